# Draws a real and a simulated run over each other: rates above, concurrency below.
# Arguments: png or svg, the file to write, the folder of the data
load ARG0[1:strstrt(ARG0, "compare.gp") - 1] . "style.gp"
data(name) = ARG3 . "/" . name

stats data("real.rates") using 1 nooutput
last = STATS_max + 2.5
top_rate = 0
do for [engine in "real simulated"] { do for [column = 2:4] {
  stats data(engine . ".rates") using column nooutput
  top_rate = STATS_max > top_rate ? STATS_max : top_rate
} }
top_rate = 1.1 * top_rate
top_concurrency = 100
do for [engine in "real simulated"] {
  stats data(engine . ".concurrency") using 2 nooutput
  top_concurrency = STATS_max > top_concurrency ? STATS_max : top_concurrency
}
top_concurrency = 2 * top_concurrency

eval open_picture(ARG1, ARG2, 760, 600)
set multiplot
set lmargin at screen 0.11; set rmargin at screen 0.97
set xrange [0:last]
set tmargin at screen 0.92; set bmargin at screen 0.54
set yrange [0:top_rate]; set ylabel "requests per second"; set format x ""
set key horizontal samplen 2 width -2 center at screen 0.54, 0.965
plot data("outage") using (0):(0):1:2:(0):(top_rate) with boxxyerror lc rgb shade title "frozen", \
     data("simulated.rates") using 1:4 with lines lw 2 lc rgb red title "timed out, simulated", \
     data("real.rates") using 1:4 with points pt 6 ps 1.1 lw 1.5 lc rgb red title "timed out, real", \
     data("simulated.rates") using 1:2 with lines lw 2 lc rgb green title "OK, simulated", \
     data("real.rates") using 1:2 with points pt 4 ps 1.1 lw 1.5 lc rgb green title "OK, real"
set tmargin at screen 0.46; set bmargin at screen 0.10
set yrange [0.7:top_concurrency]; set logscale y
set ytics ("0" 0.7, "10" 10, "100" 100, "1,000" 1000, "10,000" 10000, "100,000" 100000)
set ylabel "requests in the service"; set format x "%g"; set xlabel "seconds"
set key horizontal samplen 2 center at screen 0.54, 0.50
larger(a, b) = a > b ? a : b
plot data("outage") using (0):(0):1:2:(0.7):(top_concurrency) with boxxyerror lc rgb shade, \
     data("simulated.concurrency") using 1:(larger($2, 0.7)) with lines lw 2 lc rgb blue title "concurrency, simulated", \
     data("real.concurrency") using 1:(larger($2, 0.7)) with lines lw 1.2 dt (4,3) lc rgb "black" title "concurrency, real"
unset multiplot
