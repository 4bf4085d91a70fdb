import type { z } from "zod";
import { authoring, tools } from "../../pipeline/documents/outputs/authoring.ts";
import { catalog } from "../../pipeline/documents/outputs/catalog.ts";
import { intake } from "../../pipeline/documents/outputs/intake.ts";
import { ledger } from "../../pipeline/documents/outputs/ledger.ts";
import { problems } from "../../pipeline/documents/outputs/members.ts";
import { servers } from "../../pipeline/documents/outputs/servers.ts";
import { sites } from "../../pipeline/documents/outputs/sites.ts";
import { trust } from "../../pipeline/documents/outputs/trust.ts";
import { controller, deviceLines } from "./controller.ts";

/** Documents that commands print with --json, by their names in schemas/output.schema.json. */
export const documents = {
  problems,
  ...authoring,
  ...intake,
  ...catalog,
  ...ledger,
  ...trust,
  ...sites,
  ...controller,
  ...tools,
} as const satisfies Record<string, z.ZodType>;

/** Lines of commands that print one JSON object per line. They have no schema_version. */
export const lines = { ...servers, ...deviceLines } as const satisfies Record<string, z.ZodType>;

export const outputs = { ...documents, ...lines };

export type DocumentName = keyof typeof documents;
export type LineName = keyof typeof lines;
export type OutputName = DocumentName | LineName;

/** Commands may answer with values that they must not change. */
type Frozen<T> = T extends readonly (infer Each)[]
  ? readonly Frozen<Each>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

export type OutputDocument<Name extends DocumentName> = Omit<
  Frozen<z.infer<(typeof documents)[Name]>>,
  "schema_version"
>;
export type OutputLine<Name extends LineName> = Frozen<z.infer<(typeof lines)[Name]>>;

/** Outputs of each command that succeeds. A test compares the commands with the command table. */
export const commandOutputs = {
  init: ["init"],
  new: ["new"],
  "notes show": ["notes-show"],
  "notes lint": ["notes-lint"],
  "notes add": ["notes-add"],
  ingest: ["ingest", "ingest-fill", "ingest-suggest"],
  import: ["import"],
  inspect: ["inspect"],
  check: ["check"],
  status: ["status"],
  list: ["list"],
  affected: ["affected"],
  build: ["build"],
  plan: ["plan"],
  cut: ["cut"],
  uncut: ["uncut"],
  "ledger rebase": ["ledger-rebase"],
  "channel list": ["channel-list"],
  "channel show": ["channel-show"],
  "channel promote": ["channel-change"],
  "channel halt": ["channel-change", "release"],
  "channel resume": ["channel-change"],
  retract: ["retract"],
  reinstate: ["reinstate"],
  "trust init": ["trust-init", "trust-openpgp", "trust-packslip"],
  "trust rotate": ["trust-rotate", "trust-openpgp"],
  "trust sign": ["trust-sign"],
  "trust list": ["trust-list"],
  sign: ["sign"],
  release: ["release"],
  publish: ["publish"],
  rollback: ["rollback"],
  history: ["history"],
  upload: ["upload"],
  download: ["download"],
  verify: ["verify", "verify-other-build", "verify-files"],
  serve: ["serve-listening", "request", "site-replaced", "server-error"],
  login: ["login"],
  logout: ["logout"],
  "controller init": ["controller-init"],
  "controller serve": ["listening", "request", "server-error"],
  "controller backup": ["controller-backup"],
  "controller restore": ["controller-restore"],
  "controller migrate": ["controller-migrate"],
  "controller keys create": ["controller-new-key"],
  "controller keys rotate": ["controller-new-key"],
  "controller keys list": ["controller-keys-list"],
  "controller keys revoke": ["controller-keys-revoke"],
  "controller keys disable": ["controller-key"],
  "controller keys enable": ["controller-key"],
  "controller users add": ["controller-user"],
  "controller users role": ["controller-user"],
  "controller users disable": ["controller-user"],
  "controller users enable": ["controller-user"],
  "controller users list": ["controller-users-list"],
  "controller users passwd": ["controller-users-passwd"],
  "controller audit verify": ["controller-audit-verify"],
  "controller audit show": ["controller-audit-show"],
  "devices list": ["devices-list"],
  "devices show": ["devices-show"],
  "devices history": ["devices-history"],
  "devices watch": ["devices-watch"],
  "devices accept": ["devices-state", "devices-serials"],
  "devices reject": ["devices-state", "devices-serials"],
  "devices rename": ["devices-show"],
  "devices assign": ["devices-show"],
  "devices delete": ["devices-delete"],
  "devices export": ["devices-export"],
  "devices import": ["devices-import"],
  "devices enroll": ["devices-enroll"],
  "templates list": ["templates-list"],
  "templates show": ["templates-show"],
  "templates eject": ["templates-eject"],
  schema: ["schema", "schema-list"],
  completion: ["completion"],
} as const satisfies Record<string, readonly OutputName[]>;
