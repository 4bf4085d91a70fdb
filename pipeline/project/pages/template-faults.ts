import Handlebars from "handlebars";
import { pageTemplates } from "../../documents/pages/page-templates.ts";
import { type Fault, markupFaults, policy } from "./template-markup.ts";

const helpers = ["if", "unless", "each", "with"];

/** Problems of a template that relcat's own templates cannot have: they were reviewed. */
export function templateFaults(name: string, text: string): Fault[] {
  const program = parsed(text);
  if ("message" in program) return [program];
  const faults = [...syntaxFaults(program), ...markupFaults(text)];
  if (name === "layout.hbs" && !text.includes(policy)) faults.push({ ...withoutPolicy, line: 1, column: 1 });
  return faults;
}

const withoutPolicy = {
  message: "the layout has no Content-Security-Policy, which protects visitors from what data may contain",
  hint: `Write ${policy} into its head.`,
};

function parsed(text: string): hbs.AST.Program | Fault {
  try {
    return Handlebars.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, line = "1"] = /^Parse error on line (\d+)/.exec(message) ?? [];
    const [, exactLine, exactColumn] = / - (\d+):(\d+)$/.exec(message) ?? [];
    return {
      message: `the template cannot be read: ${(message.split("\n").at(-1) ?? "").replace(/ - \d+:\d+$/, "")}`,
      hint: "Correct the expression in braces on this line or the line before it.",
      line: Number(exactLine ?? line),
      column: Number(exactColumn ?? 0) + 1,
    };
  }
}

function syntaxFaults(program: hbs.AST.Program): Fault[] {
  const nodes = nodesIn(program);
  const inline = nodes.filter(isInline).map(({ params }) => params[0] as hbs.AST.StringLiteral | undefined);
  const partials = new Set(["@partial-block", ...inline.map((name) => String(name?.value))]);
  for (const file of Object.keys(pageTemplates))
    if (file.endsWith(".hbs")) partials.add(file.slice(0, -".hbs".length));
  return nodes.flatMap((node) => nodeFault(node, partials) ?? []);
}

function nodeFault(node: hbs.AST.Node, partials: ReadonlySet<string>): Fault | undefined {
  const fault = (message: string, hint: string): Fault => ({
    message,
    hint,
    line: node.loc.start.line,
    column: node.loc.start.column + 1,
  });
  if (isPartial(node)) {
    const name = "original" in node.name ? String(node.name.original) : "";
    if (partials.has(name)) return undefined;
    const known = [...partials].filter((each) => !each.startsWith("@")).join(", ");
    return fault(`there is no partial ${name || "with a computed name"}`, `There are ${known}.`);
  }
  if (!isCall(node)) return undefined;
  const name = "original" in node.path ? String(node.path.original) : "";
  const isHelper = node.type !== "MustacheStatement" || node.params.length > 0;
  if (isHelper && !helpers.includes(name))
    return fault(`the helper ${name} is not known`, `There are ${helpers.join(", ")}.`);
  if (node.type === "MustacheStatement" && !node.escaped && !name.endsWith("Html"))
    return fault(
      `${name} is written without escaping, but may contain any text`,
      `Write {{${name}}}. Only values whose names end in Html are HTML.`,
    );
  return undefined;
}

type Call = hbs.AST.MustacheStatement | hbs.AST.BlockStatement | hbs.AST.SubExpression;
type Partial = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

const isCall = (node: hbs.AST.Node): node is Call =>
  ["MustacheStatement", "BlockStatement", "SubExpression", "Decorator"].includes(node.type);
const isPartial = (node: hbs.AST.Node): node is Partial => node.type.startsWith("Partial");
const isInline = (node: hbs.AST.Node): node is hbs.AST.DecoratorBlock => node.type === "DecoratorBlock";

function nodesIn(value: unknown): hbs.AST.Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (value === null || typeof value !== "object") return [];
  const below = Object.values(value).flatMap(nodesIn);
  return "type" in value && "loc" in value ? [value as hbs.AST.Node, ...below] : below;
}
