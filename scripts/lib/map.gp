# Draws the chance of being down in the end (collapsed or relapsed), a heat map for each strategy, on the same axes.
# Arguments: png or svg, the file to write, the folder of the data, the strategies
load ARG0[1:strstrt(ARG0, "map.gp") - 1] . "style.gp"
data(name) = ARG3 . "/" . name . ".map"
maps = words(ARG4)

stats data(word(ARG4, 1)) using 1:2 nooutput
columns = STATS_max_x + 1; rows = STATS_max_y + 1
panel = (columns * 26 > 300) ? columns * 26 : 300
height = 185 + rows * 26 * (rows < 10 ? 1.6 : 1.2)
margin = 80; gap = 20; legend = 90
width = margin + maps * (panel + gap) + legend + 0.0

eval open_picture(ARG1, ARG2, width, height)
set multiplot
set palette defined (0 "#F2F7FB", 25 "#BFD9EC", 50 "#F2C75C", 75 "#D55E00", 100 "#7A2600")
set cbrange [0:100]; set cblabel "runs that collapse or relapse (%)"
set xrange [-0.5:columns - 0.5]; set yrange [-0.5:rows - 0.5]
unset grid; set border 0
set tmargin at screen 1 - 50.0 / height; set bmargin at screen 95.0 / height
set xtics rotate by 90 right scale 0
set ytics scale 0
set xlabel "backlog" offset 0,-1
set label 1 "○  half the runs or more still recovering, or undecided" at screen margin / width, 10.0 / height
do for [i = 1:maps] {
  name = word(ARG4, i)
  set title name font ",13"
  set lmargin at screen (margin + (i - 1.0) * (panel + gap)) / width
  set rmargin at screen (margin + (i - 1.0) * (panel + gap) + panel) / width
  set ylabel (i == 1 ? "length of the outage" : "")
  if (i == 2) { set ytics (); unset ytics }
  if (i == maps) {
    set colorbox user origin (width - legend + 10.0) / width, 95.0 / height size 15.0 / width, 1 - 145.0 / height
  } else { unset colorbox }
  if (i == 1) {
    plot data(name) using 1:2:3:xtic(4):ytic(5) with image pixels, \
         data(name) using 1:($6 == 0 ? $2 : NaN) with points pt 6 ps 0.7 lc rgb "#555555"
  } else {
    plot data(name) using 1:2:3:xtic(4) with image pixels, \
         data(name) using 1:($6 == 0 ? $2 : NaN) with points pt 6 ps 0.7 lc rgb "#555555"
  }
}
unset multiplot
