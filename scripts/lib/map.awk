# Of the table of a map: prints the shown figure as a block for each strategy, the option --y down and
# --x across, and writes what the picture is drawn from. Variables: axes (2, or 3 with the strategies
# first), show, x_name, y_name, durations (the options that are, as --help-all has them, between
# commas), scratch.
#
# The picture has names from the top down, as the text, and numbers from the bottom up.
#
# Files: N.map for each picture (place across, place up, figure, 1 if the run's end is open, 1 if
# there is no figure), facts (variables for gnuplot), border (the least certain cell of each picture).
BEGIN { FS = ","; kNone = 1e300 }

# A value as a number: a duration in seconds, "none" as more than all others; "" if it is a name.
function number(text,   sum, unit) {
  if (text == "none") return kNone
  if (text ~ /^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$/) return text + 0
  sum = 0
  while (match(text, /^[0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h)/)) {
    unit = substr(text, 1, RLENGTH); text = substr(text, RLENGTH + 1)
    sum += unit * (unit ~ /ns$/ ? 1e-9 : unit ~ /(us|µs)$/ ? 1e-6 : unit ~ /ms$/ ? 1e-3 : \
                   unit ~ /s$/ ? 1 : unit ~ /m$/ ? 60 : 3600)
  }
  return text == "" ? sum : ""
}

# Puts the values of an axis (value[1..n]) in order if they are numbers; says how they are spread.
function arrange(value, n,   i, j, swap, even, ratio) {
  for (i = 1; i <= n; ++i) if (number(value[i]) == "") return "names"
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && number(value[j - 1]) > number(value[j]); --j) {
      swap = value[j]; value[j] = value[j - 1]; value[j - 1] = swap
    }
  # 0 and "none" may stand at the ends of values that are spread evenly otherwise.
  even = ratio = 1
  for (i = 3; i <= n; ++i) {
    if (number(value[i]) == kNone) continue
    if (different(number(value[i]) - number(value[i - 1]), number(value[i - 1]) - number(value[i - 2]))) even = 0
    if (number(value[i - 2]) <= 0) continue
    if (different(number(value[i]) / number(value[i - 1]), number(value[i - 1]) / number(value[i - 2]))) ratio = 0
  }
  return n < 4 || even ? "even" : ratio ? "geometric" : "uneven"
}
function different(a, b) { return a > 1.3 * b || b > 1.3 * a }

function label(value, name) {
  return durations ~ "[,-]" name "," && value ~ /^[0-9.]+$/ ? value "s" : value
}
function longest(value, n, name,   i, most) {
  for (i = 1; i <= n; ++i) if (length(label(value[i], name)) > most) most = length(label(value[i], name))
  return most
}
# The labels of an axis for gnuplot: all of them, or as many as there is room for.
function tics(value, n, name, size, room, backwards,   i, step, text) {
  for (step = 1; step * size < room; ++step);
  for (i = 1; i <= n; i += step) text = text (i > 1 ? ", " : "") "\"" label(value[i], name) "\" " (backwards ? n - i : i - 1)
  return "(" text ")"
}
function axis_title(name, spread,   unit) {
  if (name == "rate" || name == "rate-limit") unit = "requests/s"
  if (spread == "geometric") unit = unit (unit ? ", " : "") "logarithmic"
  return name (unit ? " (" unit ")" : "")
}

NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
{
  panel = axes == 3 ? $1 : ""
  up = $(axes - 1); across = $axes
  if (!(panel in seen_panel)) { seen_panel[panel] = 1; panels[++panel_count] = panel }
  if (!(up in seen_up)) { seen_up[up] = 1; ys[++y_count] = up }
  if (!(across in seen_across)) { seen_across[across] = 1; xs[++x_count] = across }
  runs = $column["runs"]
  judged = $column["recovered"] + $column["relapsed"] + $column["recovering"] + $column["undecided"] + $column["collapsed"]
  down = $column["collapsed"] + $column["relapsed"]
  if (show == "down") figure = judged ? 100 * down / runs : ""
  else {
    figure = $column[show]
    if (figure != "" && show ~ /_share|^collapsed_/) figure *= 100
    if (show ~ /^(recovered|relapsed|recovering|undecided|collapsed)$/) figure = judged ? 100 * figure / runs : ""
  }
  shown[panel, up, across] = figure
  open[panel, up, across] = judged && 2 * ($column["recovering"] + $column["undecided"]) >= runs
  doubt = down < runs - down ? down : runs - down
  if (!(panel in most) || doubt > most[panel]) {
    most[panel] = doubt
    least_certain[panel] = (axes == 3 ? panel FS : "") up FS across
  }
}

END {
  x_spread = arrange(xs, x_count); y_spread = arrange(ys, y_count)
  percent = show == "down" || show ~ /_share|^collapsed_|^(recovered|relapsed|recovering|undecided|collapsed)$/
  missing = show ~ /_s$/ ? "never" : show == "down" || percent ? "no verdict" : "none"

  # The text.
  what = show
  if (show == "down") what = sprintf("down (collapsed or relapsed) in %% of %d runs", runs)
  else if (percent) what = show " in %"
  width = longest(xs, x_count, x_name) + 2
  if (width < 8) width = 8
  if (show == "down" && width == 8 && longest(xs, x_count, x_name) < 5) width = 6
  first = longest(ys, y_count, y_name) + 1
  if (first < 8) first = 8
  for (p = 1; p <= panel_count; ++p) {
    printf "%s%s%s, %s down, %s across%s\n", (p > 1 ? "\n" : ""), panels[p] (panels[p] != "" ? ": " : ""), what, \
      y_name, x_name, (show == "down" ? "; +: half or more still recovering or undecided" : "")
    printf "%*s", first, ""
    for (i = 1; i <= x_count; ++i) printf "%*s", width, label(xs[i], x_name)
    print ""
    for (j = 1; j <= y_count; ++j) {
      printf "%*s", first, label(ys[j], y_name)
      for (i = 1; i <= x_count; ++i) {
        figure = shown[panels[p], ys[j], xs[i]]
        plus = show == "down" && open[panels[p], ys[j], xs[i]] ? "+" : ""
        printf "%*s", width, (figure == "" ? "-" : show == "down" ? sprintf("%.0f", figure) : sprintf("%.4g", figure)) plus
        print i - 1, (y_spread == "names" ? y_count - j : j - 1), (figure == "" ? "NaN" : figure), plus != "", figure == "" >(scratch "/" p ".map")
        if (figure == "") { any_missing = 1; continue }
        if (plus != "") any_open = 1
        if (low == "" || figure < low) low = figure
        if (high == "" || figure > high) high = figure
      }
      print ""
    }
    print least_certain[panels[p]] >(scratch "/border")
  }

  # The picture.
  scale = show; gsub(/_/, " ", scale)
  if (show == "down") scale = "runs that collapse or relapse (%)"
  else if (percent) scale = scale " (%)"
  else if (sub(/ ms$/, "", scale)) scale = scale " (ms)"
  else if (sub(/ s$/, "", scale)) scale = scale " (s)"
  good = show ~ /^success_share|^recovered$/
  logarithmic = !percent && low > 0 && high / low >= 20
  if (percent) {
    low = good && low > 50 && show != "recovered" ? 10 * int(low / 10) : 0; high = 100
  } else if (low == "" || low == high) { low = low == "" ? 0 : low - 1; high = low + 2 }
  cell_x = x_count > 30 ? 780 / x_count : 26
  x_flat = 6.5 * longest(xs, x_count, x_name) + 8
  if (cell_x * x_count < 300) cell_x = 300 / x_count
  # Names lie flat if that makes the cells not too wide.
  if (x_flat <= cell_x * 1.5 && x_flat * x_count <= 560 && cell_x < x_flat) cell_x = x_flat
  flat = x_flat <= cell_x
  cell_y = y_count < 10 ? 42 : y_count <= 25 ? 31 : 650 / y_count
  # Room for the title of the scale beside it.
  if (cell_y * y_count < 160) cell_y = 160 / y_count
  file = scratch "/facts"
  printf "maps = %d; columns = %d; rows = %d\n", panel_count, x_count, y_count >file
  printf "cell_x = %.3f; cell_y = %.3f\n", cell_x, cell_y >file
  printf "left = %d; bottom = %d\n", 58 + 7 * longest(ys, y_count, y_name), \
    50 + (flat ? 12 : 7 * longest(xs, x_count, x_name)) >file
  printf "x_tics = '%s'\n", tics(xs, x_count, x_name, cell_x, flat ? 1 : 14) >file
  printf "y_tics = '%s'\n", tics(ys, y_count, y_name, cell_y, 14, y_spread == "names") >file
  printf "x_rotation = '%s'\n", flat ? "norotate center" : "rotate by 90 right" >file
  printf "x_title = '%s'; y_title = '%s'\n", axis_title(x_name, x_spread), axis_title(y_name, y_spread) >file
  printf "scale_title = '%s'; low = %g; high = %g; good = %d; logarithmic = %d\n", scale, low, high, good, logarithmic >file
  printf "missing = '%s'; any_missing = %d; any_open = %d\n", missing, any_missing, any_open >file
  printf "array title[%d]\n", panel_count >file
  for (p = 1; p <= panel_count; ++p) printf "title[%d] = '%s'\n", p, panels[p] >file
}
