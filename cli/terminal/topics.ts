import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { defaultPackageTypes, defaultPlatforms } from "../../pipeline/project/settings.ts";
import { codes, exitStatus } from "../../shared/errors.ts";
import { table } from "./cells.ts";
import { leavesOf, meanings, statusesOf } from "./exit-codes.ts";
import { answer, type Host } from "./host.ts";
import type { TopicName } from "./topic-names.ts";

/** Environment variables of all commands, with what they set. Tools below relcat read their own. */
export const variables: readonly (readonly [name: string, purpose: string])[] = [
  ["RELCAT_SITE", "site of build, sign, upload, release, publish, history and rollback"],
  ["RELCAT_ONLINE_KEY", "private key, as PEM, that signs a site; written by trust init"],
  ["RELCAT_OPENPGP_KEY", "private key, armored, that signs apt and yum repositories"],
  ["RELCAT_PACKSLIP_KEY", "private key, as PEM, that signs the feed packslip"],
  ["RELCAT_PUBLISHER", "name of this publisher in the history of a site"],
  ["RELCAT_PUBLISH_TOKEN", "token that clients of serve --releases send"],
  ["RELCAT_MANIFESTS", "set for the program of serve --after-post: paths of the posted manifests"],
  ["RELCAT_CONTROLLER_URL", "address of the controller"],
  ["RELCAT_API_KEY_ID", "id of the API key for the controller"],
  ["RELCAT_API_KEY", "secret of the API key for the controller"],
  ["RELCAT_PEPPER", "secret that the controller adds before it hashes passwords and keys"],
  ["SOURCE_DATE_EPOCH", "time in place of the clock, in seconds since 1970; it dates no signature"],
  ["NO_COLOR", "print without colours"],
  ["FORCE_COLOR", "print with colours even if the output is not a terminal"],
  ["CI", "ask no questions"],
  ["GITHUB_ACTIONS", "true: also print problems as annotations; GITHUB_STEP_SUMMARY gets a summary"],
  ["XDG_STATE_HOME", "folder for the metadata of verified sites, and for logins; default: ~/.local/state"],
  ["XDG_RUNTIME_DIR", "folder for locks if the place next to the output is not writable"],
  ["AWS_REGION", "region of a bucket, like AWS_DEFAULT_REGION; the other variables of the AWS SDK apply too"],
  ["AWS_ENDPOINT_URL_S3", "address of a service that is compatible with S3, like AWS_ENDPOINT_URL"],
  ["HTTPS_PROXY", "proxy for requests; needs NODE_USE_ENV_PROXY=1"],
];

export function showTopic(topic: TopicName, program: CommandUnknownOpts, host: Host): void {
  const { document, text } = topics[topic](program, host);
  answer<"help-topic">(host, { topic, ...document }, () => text);
}

type Topic = (program: CommandUnknownOpts, host: Host) => { document: object; text: string };

const topics: Readonly<Record<TopicName, Topic>> = {
  "exit-codes": (program) => {
    const statuses = meanings.map(([status, meaning]) => {
      const named = Object.entries(codes).filter(([, each]) => each === status);
      return { status, meaning, codes: named.map(([code]) => code) };
    });
    const commands = [...leavesOf(program)].map(([, path]) => ({
      command: path.join(" "),
      statuses: statusesOf(path),
    }));
    const rows = commands.map(({ command, statuses }) => [`  ${command}`, statuses.join(" ")]);
    const conflicts = statuses.find(({ status }) => status === exitStatus.conflict)?.codes ?? [];
    const text = [
      "The first error decides the exit status of a command.",
      table(statuses.map(({ status, meaning }) => [`  ${status}`, meaning])),
      `Conflicts (3) are: ${conflicts.join(", ")}. Run the command again after the other one has ended, or from the newest state.`,
      `Each command, with its exit statuses:\n${table(rows)}`,
    ];
    return { document: { statuses, commands }, text: text.join("\n\n") };
  },
  environment: () => ({
    document: { variables: variables.map(([name, purpose]) => ({ name, purpose })) },
    text: `Options of the command line take precedence.\n\n${table(variables.map(([name, purpose]) => [`  ${name}`, purpose]))}`,
  }),
  configuration: (_, { own }) => {
    const keys = configurationKeys(own.folder);
    const types = Object.entries(defaultPackageTypes).map(([type, { kind, platform, description }]) => [
      `  ${type}`,
      kind,
      `${platform} (${defaultPlatforms[platform]})`,
      description,
    ]);
    const text = `The project is configured in releases/catalog.yaml. Every section may be left out. NAME is a name that you choose, and [] an entry of a list.

${table(keys.map(({ key, purpose }) => [`  ${key}`, purpose]))}

Built-in package types, with kind and platform:

${table(types)}

docs/configuration.md has an example of each section. relcat schema catalog prints the JSON Schema. relcat check reports mistakes.`;
    return { document: { file: "releases/catalog.yaml", keys }, text };
  },
  json: () => ({
    document: { schemas: "relcat schema --list" },
    text: `With --json, each command prints one JSON document on standard output, and messages on standard error.

  schema_version  1; it changes if a field is removed or gets another meaning
  problems        only after a failure: code, severity, message, hint, file, line, column of each problem
  dry_run         true, with --dry-run

The exit status is the same as without --json. Servers, and devices watch, print one JSON object per line.
relcat schema --list prints the names of the JSON Schemas.`,
  }),
};

/** @param folder of relcat's package */
function configurationKeys(folder: string): { key: string; purpose: string }[] {
  const schema: Schema = JSON.parse(readFileSync(join(folder, "schemas/catalog.schema.json"), "utf8"));
  const named = new Map<string, { key: string; purpose: string }>();
  for (const [key, { description = "", enum: own, items }] of keysIn("", schema)) {
    const purpose = description.replace(/ (?:No|Without) unpaired surrogates\.$/, "");
    const values = own ?? items?.enum;
    // A value or a list of such values has each key once.
    const name = key.replaceAll("[]", "");
    if (!named.has(name))
      named.set(name, { key, purpose: values ? `${purpose} One of ${values.join(", ")}.` : purpose });
  }
  return [...named.values()];
}

interface Schema {
  description?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | false;
  anyOf?: Schema[];
}

function keysIn(path: string, schema: Schema): [string, Schema][] {
  const { properties = {}, items, additionalProperties: named, anyOf = [] } = schema;
  const own = Object.entries(properties).map(
    ([key, value]) => [path === "" ? key : `${path}.${key}`, value] as const,
  );
  return [
    ...own.flatMap(([key, value]): [string, Schema][] => [[key, value], ...keysIn(key, value)]),
    ...(items ? keysIn(`${path}[]`, items) : []),
    ...(named ? keysIn(`${path}.NAME`, named) : []),
    ...anyOf.flatMap((each) => keysIn(path, each)),
  ];
}
