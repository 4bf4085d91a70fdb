import { z } from "zod";
import { manifestSchema } from "../../pipeline/documents/manifest.ts";
import { packageRecordSchema, publishedRecordSchema } from "../../pipeline/documents/package-record.ts";
import { goneSchema, latestSchema, versionsPath, versionsSchema } from "../../pipeline/documents/site.ts";
import { filterFields } from "../../pipeline/selection/fields.ts";
import { architecture } from "../../shared/package-metadata.ts";
import { plainJson } from "../../shared/portable-patterns.ts";
import { linePattern } from "../../shared/version.ts";
import { type ApiDescription, openApiOf } from "../http/openapi.ts";
import type { Route } from "../http/router.ts";
import { type CatalogOperation, catalogRoutes } from "./routes.ts";

const record = publishedRecordSchema.meta({ id: "Package" });
const manifest = manifestSchema.meta({ id: "Manifest" });
const problem = z
  .looseObject({ detail: z.string() })
  .meta({ id: "Problem", description: "Description of the error." });
const fieldProblems = z
  .record(z.string(), z.array(z.string()))
  .meta({ id: "FieldProblems", description: "Errors by path of the field." });
const candidates = problem
  .extend({ parameters: z.array(z.string()), candidates: z.array(z.looseObject({ id: z.int() })) })
  .meta({ id: "Ambiguous", description: "The matches, and the parameters that distinguish them." });

const decided = packageRecordSchema
  .extend({
    id: z.int().nullable(),
    created_date: packageRecordSchema.shape.created_date.nullable(),
    modified_date: packageRecordSchema.shape.modified_date.nullable(),
  })
  .meta({ id: "DecidedPackage", description: "A record as it would be published." });
const single = packageRecordSchema
  .omit({ id: true, created_date: true, modified_date: true })
  .partial()
  .required({ name: true, version: true, checksum: true, package_type: true })
  .meta({ id: "SingleRecord", description: "One record: stored as a manifest of one artifact." });
const conflict = problem
  .extend({ conflicts: z.array(z.string()) })
  .meta({ id: "Conflict", description: "Each conflict, with both sides." });

const jsonAs = (schema: z.ZodType) => ({ "application/json": { schema } });
const failed = (description: string, schema: z.ZodType = problem) => ({
  description,
  content: jsonAs(schema),
});
const page = { "text/html": { schema: z.string() } };
const leads = (description: string) => ({
  description,
  headers: z.object({ Location: z.string().meta({ description: "The URL of the artifact." }) }),
});

const id = z.int().min(1).meta({ description: "Id of a record." });
const format = z
  .enum(["json", "api"])
  .optional()
  .meta({ description: "json, or api for the page; takes precedence over Accept." });
const line = z
  .string()
  .regex(linePattern)
  .optional()
  .meta({ description: "Only versions of this month, such as 26.07." });
const filters = Object.fromEntries(
  filterFields.map((field) => [
    field,
    z
      .string()
      .optional()
      .meta({ description: field === "version" ? "This version, or latest." : `This ${field}.` }),
  ]),
);
const ordering = z.string().optional().meta({
  description: "Fields separated by commas, with a minus for descending order; unknown fields are ignored.",
});
const arch = architecture.optional().meta({
  description:
    "This architecture, such as amd64, which release documents state. Only the origin and Cloudflare know it.",
});
const strict = z.enum(["1"]).optional().meta({ description: "Unknown parameters are an error." });

/** Documents that each host serves as files of the site, and no route answers. */
type FileOperation = "latestPackages" | "listVersions";
const fileRoutes: readonly Route<FileOperation>[] = [
  {
    path: "/api/v1/latest.json",
    name: "Latest Packages",
    description: "The newest version of each package type.",
    operations: { GET: "latestPackages" },
  },
  {
    path: `/${versionsPath}`,
    name: "Versions",
    description: "The versions, oldest first.",
    operations: { GET: "listVersions" },
  },
];

const description: ApiDescription<CatalogOperation | FileOperation> = {
  title: "Package catalog",
  version: "1",
  description:
    "Released packages and images. Filters match exactly. An empty value matches null. If a parameter is repeated, its last value counts.",
  securitySchemes: {
    token: { type: "http", scheme: "bearer" },
    password: { type: "http", scheme: "basic" },
  },
  operations: {
    readRoot: {
      summary: "URLs of the collections",
      security: [],
      responses: {
        "200": { description: "URLs by name.", content: jsonAs(z.object({ package: z.url() })) },
        "404": failed("The format is unknown."),
      },
    },
    listPackages: {
      summary: "The whole list, or a filtered list",
      security: [],
      requestParams: { query: z.object({ format, ordering, line, strict, ...filters }) },
      responses: {
        "200": {
          description: "Records in one array, without pages; newest version first by default.",
          content: { ...jsonAs(z.array(record)), ...page },
          headers: z.object({
            "X-Ignored-Parameters": z
              .string()
              .optional()
              .meta({ description: "Names of unknown parameters." }),
          }),
        },
        "304": { description: "Not changed since the ETag of If-None-Match." },
        "400": failed("With strict=1: unknown parameters."),
        "404": failed("The format is unknown."),
        "406": failed("Accept allows neither JSON nor HTML."),
        "501": failed("This host does not support the filter."),
      },
    },
    addManifest: {
      summary: "Post a build manifest",
      description:
        "Checks and stores manifests. It does not publish them: only people cut and publish. Only the origin server supports this.",
      security: [{ token: [] }, { password: [] }],
      requestBody: { required: true, content: jsonAs(z.union([manifest, single])) },
      responses: {
        "200": { description: "Nothing changed.", content: jsonAs(z.union([z.array(decided), decided])) },
        "201": {
          description:
            "The records as they would be published, or the record if it was one; id is null until they are cut.",
          content: jsonAs(z.union([z.array(decided), decided])),
          headers: z.object({
            "X-Ignored-Fields": z.string().optional().meta({
              description: "Members of a single record that its author cannot set.",
            }),
            "X-Relcat-After-Post": z.enum(["failed"]).optional().meta({
              description: "The manifest is stored, but the command that follows failed.",
            }),
          }),
        },
        "400": failed("The manifest has problems.", fieldProblems),
        "401": failed("Credentials are missing or wrong."),
        "403": failed("The API key lacks the scope."),
        "405": failed("This host accepts no manifests."),
        "409": failed(
          "The release is cut, published bytes would change, or another manifest contradicts it.",
          conflict,
        ),
        "413": failed("More than 4 MiB."),
        "415": failed("Not JSON, or compressed."),
        "503": failed("Another process is writing, or the catalog itself has problems."),
      },
    },
    latestPackage: {
      summary: "The newest artifact that matches",
      security: [],
      requestParams: { query: z.object({ line, arch, ...filters }) },
      responses: {
        "302": leads("The only match in the highest version with a match."),
        "400": failed("Several match, or a parameter is unknown.", z.union([candidates, problem])),
        "404": failed("Nothing matches."),
        "501": failed("This host does not support the filter."),
      },
    },
    readPackage: {
      summary: "One record",
      security: [],
      requestParams: { path: z.object({ id }), query: z.object({ format }) },
      responses: {
        "200": { description: "The record.", content: jsonAs(record) },
        "302": leads("Its position on a page, for HTML."),
        "404": failed("There is no such record."),
        "406": failed("Accept allows neither JSON nor HTML."),
        "410": failed("The record was withdrawn.", goneSchema.meta({ id: "Withdrawn" })),
      },
    },
    download: {
      summary: "The file of a record",
      security: [],
      requestParams: { path: z.object({ id }) },
      responses: {
        "302": leads("URL of the file."),
        "404": failed("There is no such record."),
        "410": failed("The record was withdrawn.", goneSchema),
      },
    },
    latestPackages: {
      summary: "The newest version of each package type",
      security: [],
      responses: {
        "200": {
          description: "The data that installers need.",
          content: jsonAs(latestSchema.meta({ id: "LatestPackages" })),
        },
        "304": { description: "Not changed since the ETag of If-None-Match." },
        "404": { description: "No site is published at this address." },
      },
    },
    listVersions: {
      summary: "All versions, for update programs",
      security: [],
      responses: {
        "200": {
          description:
            "Oldest first; withdrawn releases are deprecated, and releases that are not cut are absent.",
          content: jsonAs(versionsSchema.meta({ id: "Versions" })),
        },
        "304": { description: "Not changed since the ETag of If-None-Match." },
        "404": { description: "An older version of relcat made the site." },
      },
    },
  },
};

export const catalogOpenApiText = (): string =>
  plainJson(openApiOf([...catalogRoutes, ...fileRoutes], description));
