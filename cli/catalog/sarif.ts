import type { Problem } from "../../pipeline/index.ts";
import { problemsAsGiven } from "../terminal/as-given.ts";
import type { Host } from "../terminal/host.ts";
import { byPlace } from "../terminal/render.ts";
import { type RepositoryPath, repositoryPaths } from "../terminal/repository-path.ts";

/** Problems as SARIF 2.1.0, for code scanning and editors. */
export function sarif(
  problems: readonly Problem[],
  host: Pick<Host, "environment" | "given" | "own" | "releases">,
): object {
  const path = repositoryPaths(host);
  const rules = [...new Set(problems.map(({ code }) => code))].sort();
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "relcat",
            version: host.own.version,
            rules: rules.map((id) => ({ id, shortDescription: { text: id.replaceAll("-", " ") } })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: [...problemsAsGiven(problems, host.given)]
          .sort(byPlace)
          .map((problem) => result(problem, rules, path)),
      },
    ],
  };
}

function result(
  { code, severity, message, hint, at }: Problem,
  rules: readonly string[],
  path: RepositoryPath,
): object {
  const file = at && path(at.file);
  const location = at && {
    physicalLocation: {
      artifactLocation:
        file === undefined ? { uri: uri(at.file) } : { uri: uri(file), uriBaseId: "%SRCROOT%" },
      region: { startLine: at.line, startColumn: at.column },
    },
  };
  return {
    ruleId: code,
    ruleIndex: rules.indexOf(code),
    level: severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    ...(location && { locations: [location] }),
  };
}

const uri = (path: string): string => path.toWellFormed().split("/").map(encodeURIComponent).join("/");
