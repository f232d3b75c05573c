# Draws a job with each strategy in a column: over time, the table's capacity and its use, the workers,
# and how long they pause. Arguments: png or svg, the file to write, the folder of
# the data, the strategies (see scripts/job)
load ARG0[1:strstrt(ARG0, "job.gp") - 1] . "style.gp"
count = words(ARG4)
data(i) = sprintf("%s/%s.data", ARG3, word(ARG4, i))
larger(a, b) = a > b ? a : b

# The axes fit the largest value of all.
last = 0; top_rate = 0; top_workers = 0; top_pause = 1
array end[count]
do for [i = 1:count] {
  stats data(i) index 0 using 1:2 nooutput
  end[i] = STATS_max_x; last = larger(last, STATS_max_x); top_workers = larger(top_workers, STATS_max_y)
  stats data(i) index 0 using 3:4 nooutput
  top_pause = larger(top_pause, STATS_max_x); top_rate = larger(top_rate, STATS_max_y)
  stats data(i) index 1 using 2 nooutput
  top_rate = larger(top_rate, STATS_max)
}

panel = 230.0; left = 85.0; gap = 14.0
width = left + count * panel; height = 640
eval open_picture(ARG1, ARG2, width, height)
set multiplot
set xrange [0:last]
# Three or four marks, at round numbers.
step = 10 ** floor(log10(last)); step = last / step > 4 ? 2 * step : last / step < 2 ? step / 2 : step
set xtics step
array what[3] = ["units a second", "workers", "their mean pause (s)"]
array top[3] = [1.05 * top_rate, 1.05 * top_workers, 2 * top_pause]
array high[3] = [0.86, 0.56, 0.32]
array low[3] = [0.60, 0.36, 0.09]
do for [i = 1:count] {
  set lmargin at screen (left + (i - 1) * panel) / width
  set rmargin at screen (left + i * panel - gap) / width
  do for [p = 1:3] {
    set tmargin at screen high[p]; set bmargin at screen low[p]
    set ylabel (i == 1 ? what[p] : ""); set format y (i == 1 ? "%g" : "")
    set format x (p == 3 ? "%g" : ""); set xlabel (p == 3 ? "seconds" : "")
    unset title; unset key
    unset logscale y; set ytics autofreq
    set yrange [0:top[p]]
    if (p == 1) {
      set title word(ARG4, i) font ",12" offset 0,-0.3
      if (i == 1) { set key vertical maxrows 1 samplen 2 center at screen 0.5, 0.965 }
      plot data(i) index 0 using 1:4 with lines lw 1.2 lc rgb purple title "throttled", \
           data(i) index 1 using 1:($1 <= end[i] ? $2 : NaN) with steps lw 5 lc rgb "#C4C4C4" title "capacity", \
           data(i) index 1 using 1:($1 <= end[i] ? $3 : NaN) with lines lw 1.6 lc rgb green title "used"
    }
    if (p == 2) { plot data(i) index 0 using 1:2 with lines lw 1.8 lc rgb blue }
    if (p == 3) {
      # 0 has no logarithm: it is drawn at the bottom.
      set yrange [0.03:top[3]]; set logscale y
      set ytics ("0" 0.03, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
      if (i > 1) { set ytics ("" 0.03, "" 0.1, "" 1, "" 10, "" 100) }
      plot data(i) index 0 using 1:(larger($3, 0.03)) with lines lw 1.5 lc rgb orange
    }
  }
}
unset multiplot
