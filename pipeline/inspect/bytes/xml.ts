import { malformed } from "../../documents/verdict.ts";

/** An XML element. The order between elements with different names is lost. */
export interface XmlElement {
  text: string;
  attributes: Readonly<Record<string, string>>;
  all(name: string): readonly XmlElement[];
  first(name: string): XmlElement | undefined;
}

/** The parser's own form: every element is in a list, and attributes are separate. */
interface Parsed {
  "#text"?: string;
  "@"?: Record<string, string>;
  [name: string]: unknown;
}

const maxNestingDepth = 64;

/**
 * Leaves entities unexpanded and rejects a document type, which could declare new ones.
 * @param what name for messages
 * @param roots allowed names of the root element
 * @throws Fault malformed
 */
export async function readXml(text: string, roots: readonly string[], what: string): Promise<XmlElement> {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw malformed(`${what} has a document type, expected none`);
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    processEntities: false,
    ignoreAttributes: false,
    attributesGroupName: "@",
    attributeNamePrefix: "",
    alwaysCreateTextNode: true,
    parseTagValue: false,
    parseAttributeValue: false,
    maxNestedTags: maxNestingDepth,
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });
  const document = element(parsed(() => parser.parse(text, true) as Parsed, what));
  const [found] = roots.flatMap((root) => document.all(root));
  if (!found) throw malformed(`${what} has no element ${roots.join(" or ")}`);
  return found;
}

function parsed<T>(parse: () => T, what: string): T {
  try {
    return parse();
  } catch (error) {
    throw malformed(`${what} is not XML: ${(error as Error).message}`);
  }
}

function element(node: Parsed): XmlElement {
  const all = (name: string) => {
    const found = Object.hasOwn(node, name) ? node[name] : [];
    return Array.isArray(found) ? (found as Parsed[]).map(element) : [];
  };
  return {
    text: typeof node["#text"] === "string" ? node["#text"] : "",
    attributes: node["@"] ?? {},
    all,
    first: (name) => all(name)[0],
  };
}
