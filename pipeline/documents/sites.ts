import { z } from "zod";
import { expects, flag, line, list, object, text } from "../../shared/fields.ts";

export const command = list(line).min(1);

const program = object({
  exec: command.describe("Program and arguments; it runs without a shell."),
});

const count = (least: number) => z.int(expects("option-value", "a whole number")).min(least).max(1_000_000);

export const baseUrl = text(
  "url-format",
  /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#]*)?$/,
  "an http or https URL without credentials, query or fragment",
);

/** Host names in the normalized form of URL parsers: 127.1 is 127.0.0.1, 0 is 0.0.0.0, lower case. */
const ownMachine =
  /^((.+\.)?localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:(7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])\.?$/;

/** True if readers of a site at this address would ask their own machine. */
export const isOwnMachine = (url: string): boolean => ownMachine.test(URL.parse(url)?.hostname ?? "");

export const siteSchema = object({
  url: text(
    "url-format",
    /^(dir:.+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._/-]*)?)$/,
    "dir:FOLDER or s3://BUCKET/PREFIX",
  ).describe("dir:FOLDER, from the project's folder, or s3://BUCKET/PREFIX"),
  base_url: baseUrl.optional().describe("URL of the site for its readers; default: the catalog's base_url."),
  settles: flag.optional().describe("Whether content is permanent; not on staging; default: true."),
  endpoint: line.optional().describe("Address of an S3 service other than Amazon's."),
  region: line.optional().describe("S3 region; default: from the environment."),
  path_style: flag
    .optional()
    .describe("Bucket in the path, not in the host; default: true with an endpoint."),
  unquoted_etags: flag
    .optional()
    .describe("For Ceph, which compares the ETag in If-Match without its quotes."),
  purge: program.optional().describe("Gets the changed URLs as lines of JSON, to purge them from the CDN."),
  after_publish: program
    .optional()
    .describe("Gets the published releases as JSON, for example to announce them."),
  keep: object({
    builds: count(1).optional().describe("Number of builds that rollback can use; default: 10."),
    days: count(0).optional().describe("Days that unreferenced files are kept for readers; default: 14."),
  })
    .optional()
    .describe("When old files are removed."),
});

export interface SiteSettings {
  name: string;
  url: string;
  /** Working directory of its programs: the project's folder. */
  folder: string;
  /** Without a final slash. */
  baseUrl: string;
  settles: boolean;
  place: { kind: "dir"; folder: string } | S3Place;
  purge: readonly string[] | undefined;
  afterPublish: readonly string[] | undefined;
  keep: { builds: number; days: number };
}

export interface S3Place {
  kind: "s3";
  bucket: string;
  /** Empty, or with a final slash. */
  prefix: string;
  endpoint: string | undefined;
  region: string | undefined;
  pathStyle: boolean;
  unquotedEtags: boolean;
}

/** @param baseUrl the catalog's own, without a final slash */
export function siteSettings(
  name: string,
  written: z.infer<typeof siteSchema>,
  baseUrl: string,
): SiteSettings {
  return {
    name,
    url: written.url,
    folder: ".",
    baseUrl: (written.base_url ?? baseUrl).replace(/\/+$/, ""),
    settles: written.settles ?? true,
    place: placeOf(written),
    purge: written.purge?.exec,
    afterPublish: written.after_publish?.exec,
    keep: { builds: written.keep?.builds ?? 10, days: written.keep?.days ?? 14 },
  };
}

function placeOf(written: z.infer<typeof siteSchema>): SiteSettings["place"] {
  if (written.url.startsWith("dir:")) return { kind: "dir", folder: written.url.slice("dir:".length) };
  const [bucket = "", ...prefix] = written.url.slice("s3://".length).split("/");
  const folders = prefix.filter((part) => part !== "");
  return {
    kind: "s3",
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(""),
    endpoint: written.endpoint,
    region: written.region,
    pathStyle: written.path_style ?? written.endpoint !== undefined,
    unquotedEtags: written.unquoted_etags ?? false,
  };
}
