# Draws the share of runs that are down at the end as a heat map for each strategy, on the same axes.
# Arguments: png or svg, the file to write, the folder of the data (see retrystorm/map.h)
load ARG0[1:strstrt(ARG0, "map.gp") - 1] . "style.gp"
load ARG3 . "/facts"
data(i) = sprintf("%s/%d.map", ARG3, i)

panel_x = columns * cell_x; panel_y = rows * cell_y
gap = 20.0; legend = 95.0; top = title[1] eq "" ? 15.0 : 50.0; foot = any_open || any_missing ? 30.0 : 8.0
most = floor((1900 - left - legend) / (panel_x + gap))
across = most < 1 ? 1 : most < maps ? most : maps
lines = ceil(maps / (across + 0.0))
width = left + across * (panel_x + gap) + legend + 0.0
height = lines * (top + panel_y + bottom) + foot

eval open_picture(ARG1, ARG2, width, height)
set multiplot
set palette defined (0 "#F2F7FB", 25 "#BFD9EC", 50 "#F2C75C", 75 "#D55E00", 100 "#7A2600")
set cbrange [0:100]; set cblabel "down (%)"
set xrange [-0.5:columns - 0.5]; set yrange [-0.5:rows - 0.5]
unset grid; set border 0
set style fill solid 1.0 noborder
set object 1 rectangle from graph 0,0 to graph 1,1 fillcolor rgb "#F2F2F2" fillstyle solid noborder behind
eval "set xtics rotate by 90 right scale 0 " . x_tics
set xlabel x_title
mark = (cell_x < cell_y ? cell_x : cell_y) < 14 ? 0.3 : 0.7
if (any_open) {
  set label 1 "half the runs or more still recovering, or undecided" at screen (left + 14) / width, 12.0 / height \
      point pt 6 ps 0.7 lc rgb "#555555" offset 1,0
}
if (any_missing) {
  set label 2 "no verdict" at screen (left + (any_open ? 400 : 14)) / width, 12.0 / height \
      point pt 5 ps 1.2 lc rgb "#444444" offset 1,0
}
do for [i = 1:maps] {
  place = (i - 1) % across; line = (i - 1) / across
  set title title[i] font ",13"
  set lmargin at screen (left + place * (panel_x + gap)) / width
  set rmargin at screen (left + place * (panel_x + gap) + panel_x) / width
  set tmargin at screen 1 - (line * (top + panel_y + bottom) + top) / height
  set bmargin at screen 1 - (line * (top + panel_y + bottom) + top + panel_y) / height
  if (place == 0) {
    set ylabel y_title
    eval "set ytics scale 0 " . y_tics
  } else { unset ylabel; set ytics (); unset ytics }
  if (i == across) {
    set colorbox user origin (width - legend + 10.0) / width, 1 - (top + panel_y) / height size 15.0 / width, panel_y / height
  } else { unset colorbox }
  plot data(i) using 1:($5 == 1 ? NaN : $2):($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3 with boxxyerror lc palette, \
       data(i) using 1:($5 == 1 ? $2 : NaN):($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5) with boxxyerror lc rgb "#444444", \
       data(i) using 1:($4 == 1 ? $2 : NaN) with points pt 6 ps mark lc rgb "#555555"
  unset label
}
unset multiplot
