// The colours of shares of runs that collapse: from blue-green to orange. They can be told apart by
// lightness alone, the farther from the ground the more runs collapse.

const LIGHT = [[142, 209, 189], [222, 158, 66], [166, 60, 0]];
const DARK = [[20, 89, 74], [176, 118, 40], [255, 182, 112]];

const scheme = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null;
const isDark = () => scheme?.matches ?? false;

// Calls back whenever the page turns from light to dark or back.
export const onScheme = listener => scheme?.addEventListener('change', listener);

export function heatColour(share, dark) {
  const colours = dark ? DARK : LIGHT;
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const left = Math.min(Math.floor(at), colours.length - 2);
  return colours[left].map((value, i) => Math.round(value + (at - left) * (colours[left + 1][i] - value)));
}

// As WCAG has it.
export function luminance(colour) {
  const [r, g, b] = colour.map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export const heat = (share, dark = isDark()) => `rgb(${heatColour(share, dark).join(' ')})`;

// Black or white, whichever can be read better on `heat`.
export const heatText = (share, dark = isDark()) => luminance(heatColour(share, dark)) > 0.179 ? '#000' : '#fff';
