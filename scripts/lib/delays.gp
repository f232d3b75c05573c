# Draws the waits of a strategy, on a linear and on a logarithmic axis.
# Arguments: png or svg, the file to write, the folder of the data, the name of the curve, its title
load ARG0[1:strstrt(ARG0, "delays.gp") - 1] . "style.gp"
set datafile separator ","
exact = ARG3 . "/" . ARG4 . ".jitter-0"
jittered = ARG3 . "/" . ARG4 . ".jitter-0.1"

eval open_picture(ARG1, ARG2, 960, 400)
set multiplot layout 1,2 title "Exponential backoff, " . ARG5 font ",13"
set xlabel "retry"
set xrange [0:*]
set autoscale xfixmax; set offsets 0, 1, 0, 0
set ylabel "wait before it (seconds)"
set key top left

set title "linear axis" font ",10"
set yrange [0:*]
plot exact using 2:3 with lines lw 1.5 dt (6,4) lc rgb grey title "without jitter", \
     jittered using 2:3 with linespoints lw 2 pt 7 ps 0.7 lc rgb blue title "with jitter"

set title "logarithmic axis"
set logscale y
set yrange [*:*]
set key bottom right
replot
unset multiplot
