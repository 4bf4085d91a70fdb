/** A color as its three channels, 0 to 255. */
type Channels = readonly number[];

/** Contrast of text that WCAG 2.2 requires at level AA (success criterion 1.4.3). */
const minContrast = 4.5;

/** Backgrounds of links in style.css, by color scheme. */
export const linkBackgrounds = {
  light: ["#ffffff", "#f3f6f5"],
  dark: ["#0d1314", "#161f20"],
} as const;

export type ColorScheme = keyof typeof linkBackgrounds;

const ends: Readonly<Record<ColorScheme, Channels>> = { light: [0, 0, 0], dark: [255, 255, 255] };

/** Lowest contrast of a color with the backgrounds of a scheme, 1 to 21. */
export const contrastIn = (scheme: ColorScheme, color: string): number =>
  Math.min(...linkBackgrounds[scheme].map((back) => contrast(channelsOf(color), channelsOf(back))));

export const isReadable = (scheme: ColorScheme, color: string): boolean =>
  contrastIn(scheme, color) >= minContrast;

/** The color itself if it is readable; otherwise the first one that is, on the way to black or white. */
export function nearestReadable(scheme: ColorScheme, color: string): string {
  const from = channelsOf(color);
  for (let step = 0; step <= 255; step++) {
    const mixed = from.map((channel, index) =>
      Math.round(channel + (((ends[scheme][index] ?? 0) - channel) * step) / 255),
    );
    const found = `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    if (isReadable(scheme, found)) return found;
  }
  throw new Error(`no color is readable on ${linkBackgrounds[scheme].join(", ")}`);
}

const channelsOf = (color: string): Channels =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

function contrast(one: Channels, other: Channels): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance of WCAG 2.2. */
function luminance(channels: Channels): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
