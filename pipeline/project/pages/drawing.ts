import { XMLParser } from "fast-xml-parser";
import { placeAt } from "../source.ts";

const svg = "http://www.w3.org/2000/svg";
const xlink = "http://www.w3.org/1999/xlink";
const xml = "http://www.w3.org/XML/1998/namespace";

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
  /^http:\/\/www\.serif\.com\/$/,
  /^https?:\/\/(?:www\.)?(?:figma\.com|boxy-svg\.com|vectornator\.io|vecta\.io|svgjs\.(?:com|dev))\/[\w./-]*$/,
];

/** A node of the parser: its name has the children, ":@" the attributes. */
type Parsed = Record<string, unknown> & { ":@"?: Record<string, string> };

export interface Flaw {
  message: string;
  line: number;
  column: number;
}

/**
 * Everything in a drawing that is not on the lists: opened alone, the drawing could run it or load it.
 * @returns the flaws and the value of viewBox, or why the text is not a drawing
 */
export function readDrawing(text: string): { viewBox: string; flaws: Flaw[] } | string {
  if (/<!(?:ENTITY|ATTLIST|ELEMENT|NOTATION)|<!DOCTYPE[^>[]*\[/i.test(text))
    return "declares entities or attributes in its DOCTYPE, which could hide scripts";
  let nodes: Parsed[];
  try {
    nodes = parser.parse(text, true) as Parsed[];
  } catch (error) {
    return `is not XML: ${(error as Error).message}`;
  }
  const flaws: Flaw[] = [];
  const report = (node: Parsed, message: string) => {
    const at = (node as { [place]?: { startIndex?: number } })[place]?.startIndex ?? 0;
    const { line, column } = placeAt({ file: "", text }, at);
    flaws.push({ message, line, column });
  };
  const root = nodes.find((node) => !/^[#?]/.test(nameOf(node)));
  const attributes = root?.[":@"] ?? {};
  if (!root || !isSvg(resolved(nameOf(root), declared(attributes), true), "svg"))
    return `is not an SVG file, expected <svg xmlns="${svg}">`;
  for (const node of nodes) checkNode(node, { xml }, report);
  return { viewBox: attributes.viewBox ?? "", flaws };
}

const isSvg = ({ space, local }: Name, name: string) => space === svg && local === name;

const place = XMLParser.getMetaDataSymbol() as unknown as symbol;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  processEntities: false,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  cdataPropName: "#cdata",
  captureMetaData: true,
});

const nameOf = (node: Parsed): string => Object.keys(node).find((key) => key !== ":@") ?? "";

type Scope = Readonly<Record<string, string>>;
type Report = (node: Parsed, message: string) => void;

function checkNode(node: Parsed, outer: Scope, report: Report): void {
  const name = nameOf(node);
  if (name.startsWith("#")) return;
  if (name.startsWith("?")) {
    const { encoding = "utf-8" } = node[":@"] ?? {};
    if (!/^\?(?:xml|xpacket)$/.test(name)) report(node, `<${name}>`);
    else if (!/^(?:utf-8|us-ascii|iso-8859-1)$/i.test(encoding)) report(node, `the encoding ${encoding}`);
    return;
  }
  const attributes = Object.entries(node[":@"] ?? {}).map(([key, value]) => [key, decoded(value)] as const);
  const scope = { ...outer, ...declared(node[":@"]) };
  const { space, local } = resolved(name, scope, true);
  const isEditors = editorNamespaces.some((known) => known.test(space));
  if (!isEditors && !(space === svg && drawingElements.has(local)))
    report(node, `<${name}>${space === svg ? "" : ` of the namespace ${JSON.stringify(space)}`}`);
  for (const [key, value] of attributes) {
    const flaw = isEditors ? undefined : attributeFlaw(resolved(key, scope, false), value, local);
    if (flaw !== undefined) report(node, `${flaw} in <${name}>`);
  }
  const children = node[name] as Parsed[];
  if (local === "style" && !isEditors) {
    const flaw = styleFlaw(textOf(children));
    if (flaw !== undefined) report(node, `${flaw} in <${name}>`);
  }
  for (const child of children) checkNode(child, scope, report);
}

/** The namespaces that attributes declare, by prefix. */
const declared = (attributes: Readonly<Record<string, string>> = {}): Scope =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) =>
      /^xmlns(:|$)/.test(key) ? [[key.slice("xmlns:".length), decoded(value)]] : [],
    ),
  );

interface Name {
  space: string;
  local: string;
}

/** A name without prefix has the default namespace if it is an element, and none if it is an attribute. */
function resolved(name: string, scope: Scope, isElement: boolean): Name {
  const [, prefix = "", local = ""] = /^(?:(.*?):)?(.*)$/.exec(name) ?? [];
  if (name === "xmlns" || prefix === "xmlns") return { space: "xmlns", local };
  return { space: (prefix !== "" || isElement ? scope[prefix] : "") ?? "", local };
}

/** @returns how to name what is not allowed */
function attributeFlaw({ space, local }: Name, value: string, element: string): string | undefined {
  if (space === "xmlns" || space === xml || editorNamespaces.some((known) => known.test(space)))
    return local === "base" && space === xml ? "xml:base" : undefined;
  if (local === "href" && (space === xlink || space === "")) {
    const isPicture =
      element === "image" && /^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(value.trim());
    return isPicture || /^\s*#/.test(value) ? undefined : `a link to ${JSON.stringify(value.slice(0, 60))}`;
  }
  if (space === xlink && /^(?:type|title|role|show|actuate|arcrole)$/.test(local)) return undefined;
  if (space === "" && free.test(local)) return undefined;
  if (space === "" && drawingAttributes.has(local)) return styleFlaw(value);
  return `the attribute ${local}`;
}

/** CSS functions that load nothing. */
const functions =
  words(`rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix var calc min max clamp matrix matrix3d
  translate translatex translatey translatez translate3d scale scalex scaley rotate rotatex rotatey rotatez skew skewx
  skewy perspective cubic-bezier steps linear-gradient radial-gradient blur brightness contrast drop-shadow grayscale
  hue-rotate invert opacity saturate sepia inset polygon circle ellipse path not is where nth-child nth-of-type icc-color local
  format`);

const atRules = words("media supports keyframes -webkit-keyframes font-face charset");

/** @returns the first part of a style that is not on the lists. Comments and texts count too: skipping them could hide others. */
function styleFlaw(css: string): string | undefined {
  if (css.includes("\\")) return "a backslash in CSS";
  for (const [, rule = ""] of css.matchAll(/@([\w-]*)/g))
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

const textOf = (children: readonly Parsed[]): string =>
  children
    .map((child) => {
      if (typeof child["#text"] === "string") return decoded(child["#text"]);
      const raw = child["#cdata"] as readonly Parsed[] | undefined;
      return raw ? String(raw[0]?.["#text"] ?? "") : textOf((child[nameOf(child)] ?? []) as Parsed[]);
    })
    .join("");

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decoded = (value: string): string =>
  value.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|(\w+));/gi, (whole, hex, decimal, name) =>
    name === undefined ? character(Number.parseInt(hex ?? decimal, hex ? 16 : 10)) : (named[name] ?? whole),
  );

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd");
