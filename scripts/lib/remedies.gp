# Draws the effect of each remedy: one row for each remedy, with OK over time as a colour, and one panel
# for each case. Arguments: png or svg, the file to write, the folder of the data (see scripts/remedies)
load ARG0[1:strstrt(ARG0, "remedies.gp") - 1] . "style.gp"
load ARG3 . "/facts"
data(i) = sprintf("%s/%d.data", ARG3, i)

stats data(1) using 1 nooutput
last = floor(STATS_max)
panel = 330.0; gap = 20.0; legend = 95.0; row = 26.0; top = 62.0; bottom = 48.0
width = left + cases * (panel + gap) + legend
height = top + rows * row + bottom
eval open_picture(ARG1, ARG2, width, height)
set multiplot
set palette defined (0 "#7A2600", 25 "#D55E00", 50 "#F2C75C", 75 "#BFD9EC", 100 "#F2F7FB")
set cbrange [0:100]; set cblabel "OK (% of those before the outage)"
unset grid; set border 0
set style fill solid 1.0 noborder
set tmargin at screen 1 - top / height; set bmargin at screen bottom / height
set yrange [rows - 0.5:-0.5]
set xtics 0,60,180 scale 0.5 out
set xlabel "time (s)" offset 0,0.3
set xrange [0:last]
# When the outage begins and ends, and when the remedy comes.
do for [t in "30 50"] {
  set arrow from first t, graph 0 to first t, graph 1 nohead front linewidth 1 dashtype 2 linecolor rgb "#000000"
}
set arrow from first 60, graph 0 to first 60, graph 1 nohead front linewidth 1.6 linecolor rgb blue
set object 1 rectangle from graph 0,0 to graph 1,1 fillcolor rgb "#DDDDDD" fillstyle solid noborder behind
do for [i = 1:cases] {
  set title title[i] offset 0,0.9 font ",12"
  set label 1 "outage" at first 40, graph 1 center offset 0,0.6 font ",9"
  set label 2 "remedy" at first 62, graph 1 left offset 0,0.6 font ",9" textcolor rgb blue
  set lmargin at screen (left + (i - 1) * (panel + gap)) / width
  set rmargin at screen (left + (i - 1) * (panel + gap) + panel) / width
  if (i == 1) { eval "set ytics scale 0 " . y_tics } else { set ytics (); unset ytics }
  if (i == cases) {
    set colorbox user origin (width - legend + 10) / width, bottom / height size 15 / width, rows * row / height
  } else { unset colorbox }
  # Each is a little too long, so that there is no gap before the next one, which covers its end.
  plot data(i) using 1:2:($1 - 1):($1 + 0.5):($2 - 0.42):($2 + 0.42):($3 > 100 ? 100 : $3) with boxxyerror lc palette
}
unset multiplot
