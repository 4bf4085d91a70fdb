/** An element of a small XML document. */
export interface XmlElement {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  /** Its own text, entities replaced. */
  text: string;
}

const token = /<\?xml [^?]*\?>|<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|[^<]+/gy;

/** Parses the XML of feeds: no CDATA, comments or doctype. @throws Error if it is not well-formed */
export function readXml(xml: string): XmlElement {
  const document: XmlElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [document];
  let read = 0;
  for (const match of xml.matchAll(token)) {
    read += match[0].length;
    const [whole, closing, name, attributes = "", empty] = match;
    const parent = open.at(-1);
    if (!parent) throw new Error("an element is closed that is not open");
    if (name === undefined) {
      if (!whole.startsWith("<?xml ")) parent.text += characters(whole);
    } else if (closing) {
      if (open.pop()?.name !== name) throw new Error(`${name} is closed before what is inside it`);
    } else {
      const element: XmlElement = { name, attributes: readAttributes(attributes), children: [], text: "" };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (read !== xml.length)
    throw new Error(`not well-formed at ${JSON.stringify(xml.slice(read, read + 60))}`);
  const [root, ...others] = document.children;
  if (open.length !== 1 || root === undefined || others.length > 0)
    throw new Error("there is not exactly one root");
  return root;
}

const readAttributes = (text: string) =>
  new Map(
    [...text.matchAll(/([\w:.-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, characters(value)]),
  );

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function characters(text: string): string {
  if (text.includes("]]>")) throw new Error("]]> in text");
  if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text))
    throw new Error("a character XML 1.0 forbids");
  return text.replace(
    /&(?:#(\d+|x[0-9A-F]+);|(\w+);)?/g,
    (_, code: string | undefined, name: string | undefined) => {
      const character =
        code === undefined ? named[name ?? ""] : String.fromCodePoint(Number(code.replace(/^x/, "0x")));
      if (character === undefined) throw new Error(`no entity ${name}`);
      return character;
    },
  );
}
