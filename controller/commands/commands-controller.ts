import { Argument, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asCount, asDays, asPort, collected } from "../../cli/terminal/arguments.ts";
import { ReportedOption } from "../../cli/terminal/program-help.ts";
import { type Run, row } from "../../cli/terminal/rows.ts";

// A module is loaded by the first command that needs it.
const keyCommands = () => import("./controller-keys.ts");
const userCommands = () => import("./controller-users.ts");
const auditCommands = () => import("./controller-audit.ts");
const backupCommands = () => import("./controller-backup.ts");
const loginCommands = () => import("./login.ts");

const roles = ["Owner", "FullAdministrator", "LimitedAdministrator", "User"] as const;

const place = "SQLite file, or postgres://…";
const onDatabase = () => new Option("--database <place>", place).makeOptionMandatory();
const orDatabase = () => new Option("--database <place>", `on the controller's machine: ${place}`);
export const atUrl = () =>
  new Option(
    "--url <url>",
    "URL of the controller; default: $RELCAT_CONTROLLER_URL, or the one you are signed in to",
  );

/** A command that works with the database or with the address of a controller. */
const rowOfEither = (...of: Parameters<typeof row>) =>
  row(...of)
    .addOption(orDatabase())
    .addOption(atUrl());

export function addController(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Controller:");
  const controller = row(
    program,
    "controller",
    "Run a controller, which accepts and rejects devices.",
    "relcat controller serve --database controller.db",
  );
  addRunning(controller, run);
  addKeys(controller, run);
  addUsers(controller, run);
  addAudit(controller, run);
  addKeeping(controller, run);
  row(
    program,
    "login",
    "Sign in to a controller, to create keys and manage users.",
    "relcat login --url https://controller.example.com",
  )
    .addOption(atUrl())
    .option(
      "--email <email>",
      "email address; prompted for if missing. The password is prompted for, or read from standard input",
    )
    .action((options) => run(async (host) => (await loginCommands()).login(options, host)));
  row(program, "logout", "Sign out of a controller.", "relcat logout")
    .addOption(atUrl())
    .action((options) => run(async (host) => (await loginCommands()).logout(options, host)));
}

function addRunning(controller: CommandUnknownOpts, run: Run): void {
  const made = "relcat controller init --database controller.db --email owner@example.com";
  row(controller, "init", "Create a controller database and its first Owner.", made)
    .addOption(onDatabase())
    .requiredOption(
      "--email <email>",
      "email address of the Owner; the password is prompted for, or read from standard input",
    )
    .action((options) =>
      run(async (host) => (await import("./controller-open.ts")).initController(options, host)),
    );
  row(
    controller,
    "serve",
    "Serve the management API and its pages.",
    "relcat controller serve --database controller.db",
  )
    .addOption(onDatabase())
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 for any free port", asPort, 8081)
    .option(
      "--trusted-proxies <address...>",
      "addresses or networks whose X-Forwarded-For and -Proto are trusted",
    )
    .option("--tls-cert <file>", "PEM certificate chain, to serve HTTPS")
    .option("--tls-key <file>", "PEM private key of the certificate")
    .option("--max-accepted <count>", "limit of accepted devices; default: none", asCount)
    .option("--max-pending <count>", "limit of pending devices; default: 10000", asCount)
    .option("--limit-key <count>", "requests per minute and key; default: 6000; 0 for no limit", asCount)
    .option("--limit-address <count>", "requests per minute and address; default: 12000", asCount)
    .option("--limit-enrol <count>", "enrolment requests per minute and address; default: 120", asCount)
    .option("--limit-login <count>", "sign-ins per minute and address; default: 30", asCount)
    .option("--organisation <name>", "organisation that owns new devices")
    .action((options) =>
      run(async (host) => (await import("./controller-serve.ts")).serveControllerUntilStopped(options, host)),
    );
}

function addKeys(controller: CommandUnknownOpts, run: Run): void {
  const keys = row(controller, "keys", "Create, list and revoke API keys.", "relcat controller keys list");
  const key = "id, or a unique name";
  rowOfEither(
    keys,
    "create",
    "Create a key. Its secret is shown once.",
    'eval "$(relcat controller keys create --name fleet)"',
  )
    .option("--name <name>", "purpose of the key; default: this machine and the time")
    .option(
      "--scope <scope>",
      "scope of the key; may be repeated. Default: devices:read devices:state",
      collected,
    )
    .option("--days <days>", "lifetime: up to 365, or never; default: 90", asDays)
    .action(({ scope, ...options }) =>
      run(async (host) =>
        (await keyCommands()).createKey({ ...options, ...(scope && { scopes: scope }) }, host),
      ),
    );
  rowOfEither(keys, "list", "List all keys, without their secrets.", "relcat controller keys list").action(
    (options) => run(async (host) => (await keyCommands()).listKeys(options, host)),
  );
  rowOfEither(
    keys,
    "rotate",
    "Replace the secret. The old one works for another day.",
    'eval "$(relcat controller keys rotate me)"',
  )
    .argument("<key>", `${key}; me for the key in $RELCAT_API_KEY`)
    .option("--overlap <hours>", "how long the old secret still works; default: 24", asCount)
    .action((word, options) => run(async (host) => (await keyCommands()).rotateKey(word, options, host)));
  rowOfEither(keys, "revoke", "Revoke a key permanently.", "relcat controller keys revoke fleet")
    .argument("<key>", key)
    .action((word, options) => run(async (host) => (await keyCommands()).revokeKey(word, options, host)));
  for (const [name, what, isDisabled] of [
    ["disable", "Disable a key until it is enabled again.", true],
    ["enable", "Enable a disabled key.", false],
  ] as const)
    rowOfEither(keys, name, what, `relcat controller keys ${name} fleet`)
      .argument("<key>", key)
      .action((word, options) =>
        run(async (host) => (await keyCommands()).setDisabled(word, isDisabled, options, host)),
      );
}

function addUsers(controller: CommandUnknownOpts, run: Run): void {
  const users = row(controller, "users", "Create, list and change users.", "relcat controller users list");
  const user = "email address, user name or id";
  row(
    users,
    "add",
    "Create a user. The password is prompted for.",
    "relcat controller users add ann@example.com --role FullAdministrator",
  )
    .argument("<email>", "email address for signing in")
    .addOption(new Option("--role <role>", "role of the user").choices(roles).default("User" as const))
    .option("--name <name>", "display name")
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((email, options) => run(async (host) => (await userCommands()).addUser(email, options, host)));
  rowOfEither(users, "list", "List all users.", "relcat controller users list").action((options) =>
    run(async (host) => (await userCommands()).listUsers(options, host)),
  );
  rowOfEither(users, "passwd", "Change a user's password.", "relcat controller users passwd ann@example.com")
    .argument("<user>", user)
    .action((word, options) => run(async (host) => (await userCommands()).setPassword(word, options, host)));
  rowOfEither(users, "role", "Change a user's role.", "relcat controller users role ann@example.com Owner")
    .argument("<user>", user)
    .addArgument(new Argument("<role>").choices(roles))
    .action((word, role, options) =>
      run(async (host) => (await userCommands()).changeUser(word, { role }, options, host)),
    );
  for (const [name, what, status] of [
    ["disable", "Disable a user immediately.", "Disabled"],
    ["enable", "Enable a disabled user.", "Active"],
  ] as const)
    rowOfEither(users, name, what, `relcat controller users ${name} ann@example.com`)
      .argument("<user>", user)
      .action((word, options) =>
        run(async (host) => (await userCommands()).changeUser(word, { status }, options, host)),
      );
}

function addAudit(controller: CommandUnknownOpts, run: Run): void {
  const audit = row(
    controller,
    "audit",
    "Show and verify the audit log.",
    "relcat controller audit show --code device.state",
  );
  row(
    audit,
    "verify",
    "Verify that the log was not changed.",
    "relcat controller audit verify --database controller.db",
  )
    .addOption(new ReportedOption("--database <place>", `on the controller's machine: ${place}`))
    .option("--head <line>", "head that an earlier verify printed; the log must still contain it")
    .action((options) => run(async (host) => (await auditCommands()).verifyAuditLog(options, host)));
  row(audit, "show", "Show the audit log, newest first.", "relcat controller audit show --code device.state")
    .option("--target <id>", "id of a device, user or key")
    .option("--code <code>", "event code as in --json; for example device.state or auth.failed")
    .option("--limit <count>", "number of rows, up to 1000; default: 100", asCount)
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((options) => run(async (host) => (await auditCommands()).showAuditLog(options, host)));
}

function addKeeping(controller: CommandUnknownOpts, run: Run): void {
  row(
    controller,
    "backup",
    "Copy the database while the server runs.",
    "relcat controller backup backup.db --database controller.db",
  )
    .argument("<file>", "new file")
    .addOption(onDatabase())
    .option("--with-pepper", "also write the pepper, to FILE.pepper")
    .action((file, options) =>
      run(async (host) => (await backupCommands()).backUpController(file, options, host)),
    );
  row(
    controller,
    "restore",
    "Restore a database from a backup.",
    "relcat controller restore backup.db --database controller.db",
  )
    .argument("<file>", "backup file")
    .requiredOption("--database <file>", "new database file")
    .action((file, options) =>
      run(async (host) => (await backupCommands()).restoreController(file, options, host)),
    );
  row(
    controller,
    "migrate",
    "Upgrade a database to the schema of this version.",
    "relcat controller migrate --database controller.db",
  )
    .addOption(onDatabase())
    .action((options) => run(async (host) => (await backupCommands()).migrateController(options, host)));
}
