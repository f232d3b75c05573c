# Draws the responsive sleeper's delay, request by request.
# Arguments: png or svg, the file to write, the folder of the data
load ARG0[1:strstrt(ARG0, "sleeper.gp") - 1] . "style.gp"
set datafile separator ","
sleeper = ARG3 . "/sleeper"

eval open_picture(ARG1, ARG2, 960, 420)
set title "Responsive sleeper: 1 ms, up by 1.5, down by 0.6 after 5 successes" font ",13"
set xlabel "request"
set ylabel "delay after it (milliseconds)"
set xrange [0:*]
set yrange [0:*]
set autoscale xfixmax; set offsets 0, 1, 0, 0
set key top right
plot sleeper using 2:(1000 * $3) with steps lw 1 lc rgb "#C8C8C8", \
     sleeper using 2:(strcol(7) eq "failure" ? 1000 * $3 : NaN) with points pt 9 ps 1.1 lc rgb red title "failure", \
     sleeper using 2:(strcol(7) eq "success" ? 1000 * $3 : NaN) with points pt 7 ps 0.8 lc rgb blue title "success"
