import { type Exchange, type Part, parts } from "./contract.ts";
import { apache } from "./homes/apache.ts";
import { caddy } from "./homes/caddy.ts";
import { cloudfront } from "./homes/cloudfront.ts";
import { nginx } from "./homes/nginx.ts";
import { origin } from "./homes/origin.ts";
import { plain } from "./homes/plain.ts";
import { worker } from "./homes/worker.ts";
import { exceptionFor, exchanges, type Home } from "./run-contract.ts";

/** Every home. */
const homes: readonly Home[] = [origin, worker, nginx, caddy, apache, cloudfront, plain];

/** Capabilities of each host as Markdown, from the exceptions that the runs verify. */
export function hostingTable(): string {
  const notes: string[] = [];
  const rows = (Object.keys(parts) as Part[]).map((part) => {
    const cells = homes.map((home) => cell(home, part, notes));
    return `| ${[parts[part], ...cells].join(" | ")} |`;
  });
  const head = ["", ...homes.map(({ name }) => name)];
  return [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---|").join("")}`,
    ...rows,
    "",
    ...notes.map((note, index) => `${index + 1}. ${note}`),
  ].join("\n");
}

function cell(home: Home, part: Part, notes: string[]): string {
  const own = exchanges.filter((exchange) => exchange.part === part);
  const excepted = own.flatMap((exchange: Exchange) => exceptionFor(home, exchange) ?? []);
  if (excepted.length === 0) return "yes";
  const numbers = [...new Set(excepted.map(({ reason }) => numberOf(reason, notes)))];
  return `${excepted.length === own.length ? "no" : "partly"} (${numbers.join(", ")})`;
}

function numberOf(reason: string, notes: string[]): number {
  const at = notes.indexOf(reason);
  return at >= 0 ? at + 1 : notes.push(reason);
}
