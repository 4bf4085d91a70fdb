import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import type { Place } from "../../../shared/errors.ts";
import { placeAt, type Source } from "../../../shared/source.ts";

const svg = "http://www.w3.org/2000/svg";
const xlink = "http://www.w3.org/1999/xlink";
const xml = "http://www.w3.org/XML/1998/namespace";
const xmlns = "http://www.w3.org/2000/xmlns/";
const xhtml = "http://www.w3.org/1999/xhtml";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Without links, animations (which can change a link), foreign objects and scripts. */
export const drawingElements =
  words(`svg g defs symbol use switch title desc metadata style path rect circle ellipse
  line polyline polygon text tspan textPath image linearGradient radialGradient stop pattern clipPath mask marker
  filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap
  feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology
  feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence`);

/** Attributes of SVG 1.1 and SVG 2 that neither link nor run anything. Values of all but `free` are read as CSS. */
export const drawingAttributes =
  words(`version baseProfile viewBox preserveAspectRatio zoomAndPan enable-background x y x1 y1
  x2 y2 cx cy r rx ry fx fy fr dx dy width height d points pathLength transform rotate offset textLength lengthAdjust
  startOffset method spacing side gradientUnits gradientTransform spreadMethod patternUnits patternContentUnits
  patternTransform clipPathUnits maskUnits maskContentUnits markerUnits markerWidth markerHeight refX refY orient
  filterUnits primitiveUnits filterRes in in2 result mode operator k1 k2 k3 k4 stdDeviation values tableValues slope
  intercept amplitude exponent radius order kernelMatrix divisor bias targetX targetY edgeMode preserveAlpha
  surfaceScale diffuseConstant specularConstant specularExponent kernelUnitLength azimuth elevation pointsAtX
  pointsAtY pointsAtZ limitingConeAngle scale xChannelSelector yChannelSelector baseFrequency numOctaves seed
  stitchTiles type media requiredFeatures requiredExtensions systemLanguage focusable style fill fill-opacity fill-rule
  stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset
  color opacity stop-color stop-opacity flood-color flood-opacity lighting-color clip clip-path clip-rule mask mask-type
  filter marker marker-start marker-mid marker-end display visibility overflow cursor pointer-events paint-order
  vector-effect shape-rendering text-rendering image-rendering color-rendering color-interpolation
  color-interpolation-filters transform-origin font font-family font-size font-size-adjust font-stretch font-style
  font-variant font-weight letter-spacing word-spacing text-anchor text-decoration text-align dominant-baseline
  alignment-baseline baseline-shift direction unicode-bidi writing-mode kerning glyph-orientation-vertical
  glyph-orientation-horizontal solid-color solid-opacity isolation mix-blend-mode`);

const free = /^(?:id|class|lang|role|aria-[a-z]+|data-[\w.-]+)$/;

/** Editors store their own data in these namespaces; browsers ignore it. */
const editorNamespaces = [
  /^http:\/\/www\.inkscape\.org\/namespaces\/inkscape$/,
  /^http:\/\/(?:sodipodi\.sourceforge\.net|inkscape\.sourceforge\.net|www\.sodipodi\.com)\//i,
  /^http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#$/,
  /^http:\/\/(?:creativecommons\.org|web\.resource\.org\/cc)\/(?:ns#)?$/,
  /^http:\/\/purl\.org\/dc\/(?:elements\/1\.1|terms)\/$/,
  /^(?:adobe:ns:meta\/|http:\/\/ns\.adobe\.com\/[\w./-]*)$/,
  /^http:\/\/www\.bohemiancoding\.com\/sketch\/ns$/,
  /^http:\/\/www\.openswatchbook\.org\/uri\/2009\/osb$/,
  /^http:\/\/www\.serif\.com\/$/,
  /^https?:\/\/(?:www\.)?(?:figma\.com|boxy-svg\.com|vectornator\.io|vecta\.io|svgjs\.(?:com|dev))\/[\w./-]*$/,
];

export interface Flaw {
  message: string;
  hint: string;
  at: Place;
}

/**
 * Everything in a drawing that is not on the lists: opened alone, the drawing could run it or load it.
 * The parser is strict: a browser finds the same elements in what it accepts.
 */
export function readDrawing(source: Source): { viewBox: string; flaws: Flaw[] } {
  const flaws: Flaw[] = [];
  const parser: Parser = new SaxesParser({ xmlns: true, position: false });
  const report: Report = (at, message, hint) => {
    flaws.push({ message: `the drawing ${message}`, hint, at: placeAt(source, Math.max(at, 0)) });
  };
  let viewBox: string | undefined;
  checkProlog(parser, source.text, report);
  checkStyles(parser, source.text, report);
  parser.on("opentag", (tag) => {
    const at = lastStart(parser, source.text, "<");
    if (viewBox === undefined && !isSvg(tag, "svg")) {
      report(at, `has the root element ${named(tag)}, expected <svg xmlns="${svg}">`, corrected);
      throw stopped;
    }
    viewBox ??= tag.attributes.viewBox?.value ?? "";
    const hint = tag.local === "foreignObject" || tag.uri === xhtml ? withoutEffects : cleaned;
    for (const flaw of tagFlaws(tag)) report(at, forbidden(flaw), hint);
  });
  try {
    parser.write(source.text).close();
  } catch (error) {
    if (error !== stopped) throw error;
  }
  return { viewBox: viewBox ?? "", flaws };
}

type Parser = SaxesParser<{ xmlns: true; position: false }>;
type Report = (at: number, message: string, hint: string) => void;

/** @returns where the markup that the parser just read begins */
const lastStart = (parser: Parser, text: string, opening: string) =>
  text.lastIndexOf(opening, parser.position - 1);

function checkProlog(parser: Parser, text: string, report: Report): void {
  parser.on("error", ({ message }) => {
    const at = Math.min(parser.position, text.length) - 1;
    report(at, `is not well-formed XML: ${message.replace(/\.$/, "")}`, corrected);
    throw stopped;
  });
  parser.on("xmldecl", ({ version, encoding = "utf-8" }) => {
    if (version !== "1.0") report(0, forbidden(`the XML version ${version}`), cleaned);
    if (!/^(?:utf-8|us-ascii|iso-8859-1)$/i.test(encoding))
      report(0, forbidden(`the encoding ${encoding}`), cleaned);
  });
  parser.on("doctype", (doctype) => {
    if (plainDoctype.test(doctype)) return;
    report(
      lastStart(parser, text, "<!DOCTYPE"),
      "has a DOCTYPE that declares entities or is of another format, expected none or that of SVG 1.0 or 1.1",
      simplified,
    );
    throw stopped;
  });
  parser.on("processinginstruction", ({ target }) => {
    if (target !== "xpacket")
      report(lastStart(parser, text, `<?${target}`), forbidden(`<?${target}>`), cleaned);
  });
}

/** Like a browser, reads only the text that is directly in <style>. */
function checkStyles(parser: Parser, text: string, report: Report): void {
  const open: { at: number; css: string }[] = [];
  const add = (part: string) => {
    const parent = open.at(-1);
    if (parent) parent.css += part;
  };
  parser.on("opentagstart", () => {
    open.push({ at: lastStart(parser, text, "<"), css: "" });
  });
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", (tag) => {
    const { at = 0, css = "" } = open.pop() ?? {};
    const flaw = isSvg(tag, "style") ? styleFlaw(css) : undefined;
    if (flaw !== undefined) report(at, forbidden(`${flaw} in <${tag.name}>`), cleaned);
  });
}

const stopped = new Error("the rest of the drawing is not read");

/** An internal subset declares entities. For the identifiers of XHTML, browsers have entities of their own. */
const plainDoctype =
  /^[\t\n ]+svg(?:[\t\n ]+PUBLIC[\t\n ]+(["'])-\/\/W3C\/\/DTD SVG (?:1\.[01]|1\.1 (?:Basic|Tiny)|20010904)\/\/EN\1[\t\n ]+(?:"[^"]*"|'[^']*'))?[\t\n ]*$/;

const forbidden = (found: string) => `has ${found}, expected only shapes, text and styles that load nothing`;
const cleaned =
  "Remove it, or export the drawing again: Inkscape as Plain SVG, Illustrator with Export As. Turn texts in special fonts into paths.";
const withoutEffects =
  "Remove the background blur in Figma, or save in Illustrator without Preserve Illustrator Editing Capabilities. Then export the drawing again.";
const simplified =
  "Remove the DOCTYPE, or save in Illustrator without Preserve Illustrator Editing Capabilities.";
const corrected = "Correct the file, or export the drawing again as SVG.";

const isSvg = ({ uri, local }: SaxesTagNS, name: string) => uri === svg && local === name;

const isEditors = (uri: string) => editorNamespaces.some((known) => known.test(uri));

const named = ({ name, uri }: SaxesTagNS) =>
  `<${name}>${uri === svg || uri === "" ? "" : ` of the namespace ${JSON.stringify(uri)}`}`;

/** Editors' elements have any attributes without a namespace. */
function tagFlaws(tag: SaxesTagNS): string[] {
  const isFree = isEditors(tag.uri);
  const isKnown = isFree || (tag.uri === svg && drawingElements.has(tag.local));
  const flaws = Object.values(tag.attributes).flatMap((attribute) => {
    const flaw = isFree && attribute.uri === "" ? undefined : attributeFlaw(attribute, tag.local);
    return flaw === undefined ? [] : [`${flaw} in <${tag.name}>`];
  });
  return isKnown ? flaws : [named(tag), ...flaws];
}

function attributeFlaw({ name, uri, local, value }: SaxesAttributeNS, element: string): string | undefined {
  // The parser ignores the spaces, a browser does not.
  if (uri === xmlns && value !== value.trim()) return `spaces around the namespace ${JSON.stringify(value)}`;
  if (uri === xmlns || uri === xml || isEditors(uri)) return name === "xml:base" ? name : undefined;
  if (local === "href" && (uri === xlink || uri === "")) {
    const isPicture =
      element === "image" && /^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(value.trim());
    return isPicture || /^\s*#/.test(value) ? undefined : `a link to ${JSON.stringify(value.slice(0, 60))}`;
  }
  if (uri === xlink && /^(?:type|title|role|show|actuate|arcrole)$/.test(local)) return undefined;
  if (uri === "" && free.test(local)) return undefined;
  if (uri === "" && drawingAttributes.has(local)) return styleFlaw(value);
  return `the attribute ${name}`;
}

/** CSS functions that load nothing. */
const functions =
  words(`rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix var calc min max clamp matrix matrix3d
  translate translatex translatey translatez translate3d scale scalex scaley rotate rotatex rotatey rotatez skew skewx
  skewy perspective cubic-bezier steps linear-gradient radial-gradient blur brightness contrast drop-shadow grayscale
  hue-rotate invert opacity saturate sepia inset polygon circle ellipse path not is where nth-child nth-of-type icc-color local
  format`);

const atRules = words("media supports keyframes -webkit-keyframes font-face charset");

/** Comments and texts count too: skipping them could hide rules. An @ after a letter, as in an address, begins none. */
function styleFlaw(css: string): string | undefined {
  if (css.includes("\\")) return "a backslash in CSS";
  for (const [, rule = ""] of css.matchAll(/(?<!\w)@([\w-]*)/g))
    if (!atRules.has(rule.toLowerCase())) return `@${rule}`;
  for (const [, name = "", argument = ""] of css.matchAll(/([\w-]*)\((?=([^)]*))/g)) {
    const isLocal =
      /^\s*["']?\s*(?:#|data:(?:image\/(?:png|jpe?g|gif|webp)|font\/[\w-]+|application\/[\w-]*font[\w-]*)[;,])/i;
    if (
      name.toLowerCase() === "url" ? isLocal.test(argument) : name === "" || functions.has(name.toLowerCase())
    )
      continue;
    return `${name}(${argument.slice(0, 60)})`;
  }
  return undefined;
}
