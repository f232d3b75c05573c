# Draws runs side by side: rates above, concurrency below, on the same axes.
# Arguments: png or svg, the file to write, the folder of the data, the names of the runs
load ARG0[1:strstrt(ARG0, "runs.gp") - 1] . "style.gp"
runs = words(ARG4)
data(name, part) = ARG3 . "/" . name . "." . part
larger(a, b) = a > b ? a : b

# The axes fit the largest value of all runs.
what = ""
last = 0; top_rate = 0; top_not_sent = 0; top_concurrency = 100
do for [name in ARG4] {
  load data(name, "facts")
  last = larger(last, end)
  what = what eq "" || what eq disturbance ? disturbance : "outage"
  if (fatal > 0) { top_concurrency = larger(top_concurrency, fatal) }
  do for [column = 2:5] {
    stats data(name, "rates") using column nooutput
    top_rate = larger(top_rate, STATS_max)
  }
  top_not_sent = larger(top_not_sent, STATS_max)
  stats data(name, "concurrency") using 2 nooutput
  top_concurrency = larger(top_concurrency, STATS_max)
}
top_rate = 1.05 * top_rate
# Most clients have no gate. So the curve of refused attempts is drawn only if a run has any.
not_sent = top_not_sent > 0 ? 1 : NaN
top_concurrency = 2 * top_concurrency

panel = 410; margin = 85; gap = 15
width = margin + runs * panel + 0.0
eval open_picture(ARG1, ARG2, width, 600)
set multiplot
set xrange [0:last]
set xtics ceil(last / 60.0) * 10
do for [i = 1:runs] {
  name = word(ARG4, i)
  load data(name, "facts")
  set lmargin at screen (margin + (i - 1.0) * panel) / width
  set rmargin at screen (margin + i * panel - gap) / width

  set title sprintf("%s: %s", name, verdict) font ",13" offset 0,-0.3
  set tmargin at screen 0.88; set bmargin at screen 0.54
  unset logscale y; set yrange [0:top_rate]; set ytics autofreq
  set format y (i == 1 ? "%g" : "")
  set ylabel (i == 1 ? "requests per second" : "")
  set format x ""; unset xlabel
  if (i == 1) { set key vertical maxrows 2 samplen 2 center at screen 0.5, 0.97 } else { unset key }
  plot data(name, "outage") using (0):(0):1:2:(0):(top_rate) with boxxyerror lc rgb shade title what, \
       data(name, "actions_done") using 1:(0):(0):(top_rate) with vectors nohead lw 1 dt (2,3) lc rgb grey notitle, \
       data(name, "actions_done") using 1:((0.97 - 0.055 * $2) * top_rate):3 with labels left offset 0.5,0 font ",9" notitle, \
       data(name, "rates") using 1:(not_sent * $5) with lines lw 2 lc rgb orange dt (9,4,2,4) title (top_not_sent > 0 ? "not sent" : ""), \
       data(name, "rates") using 1:3 with lines lw 2 lc rgb purple dt (6,3) title "errors", \
       data(name, "rates") using 1:4 with lines lw 2 lc rgb red title "timed out", \
       data(name, "rates") using 1:2 with lines lw 2 lc rgb green title "OK"

  unset title
  set tmargin at screen 0.46; set bmargin at screen 0.10
  # 0 has no logarithm: it is drawn at the bottom.
  set yrange [0.7:top_concurrency]; set logscale y
  if (i == 1) {
    set ytics ("0" 0.7, "10" 10, "100" 100, "1,000" 1000, "10,000" 10000, "100,000" 100000)
  } else {
    set ytics ("" 0.7, "" 10, "" 100, "" 1000, "" 10000, "" 100000)
  }
  set ylabel (i == 1 ? "requests in the service" : "")
  set format x "%g"; set xlabel "seconds"
  if (i == 1) { set key horizontal samplen 2 center at screen 0.5, 0.50 }
  plot data(name, "outage") using (0):(0):1:2:(0.7):(top_concurrency) with boxxyerror lc rgb shade, \
       fatal with lines lw 1.5 lc rgb red title "from here on answers come too late", \
       data(name, "concurrency") using 1:(larger($2, 0.7)) with lines lw 1.5 lc rgb blue title "concurrency"
}
unset multiplot
