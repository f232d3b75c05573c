# Draws the effect of the strategies in each disturbance: one row for each strategy, the best at the top.
# Arguments: png or svg, the file to write, the folder of the data, how many disturbances
load ARG0[1:strstrt(ARG0, "strategies.gp") - 1] . "style.gp"
data(i) = ARG3 . "/" . i . ".data"
count = ARG4 + 0
array colour[5] = [blue, red, "#7A2600", green, purple]
array mark[5] = [6, 4, 8, 7, 5]
array title_of[5] = ["frozen for 1 s", "for 10 s", "for 60 s", "errors in 10 %", "in 50 %"]
# Slightly apart, so that points that coincide are visible.
shift(i) = 0.3 - 0.15 * (i - 1)

stats data(1) using 1 nooutput
rows = STATS_max + 1
width = 1180; height = 120 + 21 * rows
eval open_picture(ARG1, ARG2, width, height)
set multiplot
set tmargin at screen 1 - 70.0 / height; set bmargin at screen 30.0 / height
set yrange [-0.6:rows - 0.4]
unset grid; set grid xtics linecolor rgb "#DDDDDD" linewidth 0.8 linetype 1
left = 160.0; gap = 26.0; panel = (width - left - 3 * gap - 24) / 4
array panel_title[4] = ["down at the end, % of runs", "back after, s (median, 90 %)", \
                        "requests that succeeded, %", "attempts per request"]
# A key in one line above all panels, because gnuplot has none for several panels.
do for [i = 1:count] {
  set label i title_of[i] at screen (left + 150.0 * (i - 1)) / width, 1 - 16.0 / height left \
      offset 1.5,0 point pt mark[i] ps 1 lc rgb colour[i]
}
# Every other row shaded, from one side of the panel to the other.
set style fill solid 1.0 noborder
do for [p = 1:4] {
  set lmargin at screen (left + (p - 1) * (panel + gap)) / width
  set rmargin at screen (left + (p - 1) * (panel + gap) + panel) / width
  set title panel_title[p] offset 0,-0.4
  unset logscale x; set xtics auto
  low = -3; high = 103
  if (p == 2) { low = -2; high = 86; set xtics ("0" 0, "20" 20, "40" 40, "not yet" 58, "never" 78) }
  if (p == 3) { low = 0; high = 101.5; set xtics 20 }
  if (p == 4) { low = 0.2; high = 20; set logscale x; set xtics (0.2, 0.5, 1, 2, 5, 10, 20) }
  set xrange [low:high]
  band(row) = int(row) % 2 == 0 ? row : NaN
  if (p == 1) {
    plot data(1) using (low):(band($1)):(low):(high):($1 - 0.5):($1 + 0.5) with boxxyerror lc rgb "#F3F3F3", \
         data(1) using (NaN):1:ytic(2) with points notitle, \
         for [i = 1:3] data(i) using 3:($1 + shift(i)):4:5 with xerrorbars lc rgb colour[i] pt mark[i] ps 0.9
    unset ytics
  }
  if (p == 2) {
    unset label
    plot data(1) using (low):(band($1)):(low):(high):($1 - 0.5):($1 + 0.5) with boxxyerror lc rgb "#F3F3F3", \
         for [i = 1:3] data(i) using 6:($1 + shift(i)):6:($8 > 0 ? $8 : $6) with xerrorbars lc rgb colour[i] pt mark[i] ps 0.9, \
         for [i = 1:3] data(i) using ($7 == 1 ? ($3 > 50 ? 78 : 58) : NaN):($1 + shift(i)) with points lc rgb colour[i] pt mark[i] ps 0.9
  }
  if (p > 2) {
    first = p == 3 ? 9 : 12
    plot data(1) using (low):(band($1)):(low):(high):($1 - 0.5):($1 + 0.5) with boxxyerror lc rgb "#F3F3F3", \
         for [i = 1:count] data(i) using (column(first)):($1 + shift(i)):(column(first + 1)):(column(first + 2)) with xerrorbars lc rgb colour[i] pt mark[i] ps 0.9
  }
}
unset multiplot
