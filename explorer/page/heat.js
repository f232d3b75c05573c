// The colours of shares of runs that stay down, as in the pictures of scripts/map: from ice over yellow to
// brown. They differ in lightness too: the more runs stay down, the larger the contrast to the background.

const LIGHT = [[215, 232, 245], [191, 217, 236], [242, 199, 92], [213, 94, 0], [122, 38, 0]];
const DARK = [[30, 50, 66], [45, 84, 112], [150, 114, 34], [236, 138, 72], [255, 214, 178]];

const scheme = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null;
const isDark = () => scheme?.matches ?? false;

// Calls back whenever the page changes between light and dark.
export const onScheme = listener => scheme?.addEventListener('change', listener);

export function heatColour(share, dark) {
  const colours = dark ? DARK : LIGHT;
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const left = Math.min(Math.floor(at), colours.length - 2);
  return colours[left].map((value, i) => Math.round(value + (at - left) * (colours[left + 1][i] - value)));
}

// The relative luminance of WCAG.
export function luminance(colour) {
  const [r, g, b] = colour.map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export const heat = (share, dark = isDark()) => `rgb(${heatColour(share, dark).join(' ')})`;

// Black or white, whichever is more legible on `heat`.
export const heatText = (share, dark = isDark()) => luminance(heatColour(share, dark)) > 0.179 ? '#000' : '#fff';
