import { Argument, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asCount, asDays, asPort, collected } from "../terminal/arguments.ts";
import { type Run, row } from "../terminal/rows.ts";

const roles = ["Owner", "FullAdministrator", "LimitedAdministrator", "User"] as const;

const place = "the file, or postgres://…";
const onDatabase = () => new Option("--database <place>", place).makeOptionMandatory();
const orDatabase = () => new Option("--database <place>", `on the controller's own machine: ${place}`);
export const atUrl = () =>
  new Option("--url <url>", "the controller; default: $RELCAT_CONTROLLER_URL, or where you are signed in");

/** The rows of `relcat controller`, `login` and `logout`. */
export function addController(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Manage devices:");
  const controller = row(
    program,
    "controller",
    "Run a controller, which accepts and rejects devices.",
    "relcat controller demo",
  );
  addRunning(controller, run);
  addKeys(controller, run);
  addUsers(controller, run);
  addAudit(controller, run);
  addKeeping(controller, run);
  row(
    program,
    "login",
    "Sign in to a controller, to make keys and see users.",
    "relcat login --url https://controller.example.com",
  )
    .addOption(atUrl())
    .option(
      "--email <email>",
      "who; asked for unless given. The password is asked for, or read from standard input",
    )
    .action((options) => run(async (host) => (await import("./login.ts")).login(options, host)));
  row(program, "logout", "End the session at a controller.", "relcat logout")
    .addOption(atUrl())
    .action((options) => run(async (host) => (await import("./login.ts")).logout(options, host)));
}

function addRunning(controller: CommandUnknownOpts, run: Run): void {
  row(controller, "demo", "Start one with simulated devices, to try things on.", "relcat controller demo")
    .option("--port <port>", "0 for any free one", asPort, 8081)
    .option("--devices <count>", "how many wait", asCount, 200)
    .action((options) => run(async (host) => (await import("./controller-demo.ts")).demo(options, host)));
  const made = "relcat controller init --database controller.db --email owner@example.com";
  row(controller, "init", "Make a controller's database and its first Owner.", made)
    .addOption(onDatabase())
    .requiredOption("--email <email>", "of the Owner; the password is asked for, or read from standard input")
    .action((options) =>
      run(async (host) => (await import("./controller-init.ts")).initController(options, host)),
    );
  row(
    controller,
    "serve",
    "Serve the management API and its pages.",
    "relcat controller serve --database controller.db",
  )
    .addOption(onDatabase())
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <port>", "0 for any free one", asPort, 8081)
    .option(
      "--trusted-proxies <address...>",
      "addresses or networks whose X-Forwarded-For and -Proto are believed",
    )
    .option("--tls-cert <file>", "PEM, to speak HTTPS itself")
    .option("--tls-key <file>", "PEM, its private key")
    .option("--max-accepted <count>", "accepted devices; default: any number", asCount)
    .option("--max-pending <count>", "pending devices, default 10000", asCount)
    .option("--limit-key <count>", "requests of one key a minute, default 6000; 0 for any number", asCount)
    .option("--limit-address <count>", "requests of one address a minute, default 12000", asCount)
    .option("--limit-enrol <count>", "enrolment requests of one address a minute, default 120", asCount)
    .option("--limit-login <count>", "sign-ins of one address a minute, default 30", asCount)
    .option("--organisation <name>", "whose new devices are")
    .option("--quiet", "no line for each request")
    .action((options) =>
      run(async (host) => (await import("./controller-serve.ts")).serveControllerUntilStopped(options, host)),
    );
}

function addKeys(controller: CommandUnknownOpts, run: Run): void {
  const keys = row(controller, "keys", "Make, list and end API keys.", "relcat controller keys list");
  const key = "id, or a name that only one has";
  row(
    keys,
    "create",
    "Make a key; its secret is shown once.",
    'eval "$(relcat controller keys create --name fleet)"',
  )
    .addOption(orDatabase())
    .addOption(atUrl())
    .option("--name <name>", "what it is for")
    .option(
      "--scope <scope>",
      "such as devices:write; may be repeated. Default: devices:read devices:state",
      collected,
    )
    .option("--days <days>", "it lives; default 90, 365 at most, or never", asDays)
    .action(({ scope, ...options }) =>
      run(async (host) =>
        (await import("./controller-keys.ts")).createKey(
          { ...options, ...(scope && { scopes: scope }) },
          host,
        ),
      ),
    );
  row(keys, "list", "Show all keys, never their secrets.", "relcat controller keys list")
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((options) => run(async (host) => (await import("./controller-keys.ts")).listKeys(options, host)));
  row(
    keys,
    "rotate",
    "Exchange the secret; the old one works on for a day.",
    "relcat controller keys rotate me",
  )
    .argument("<key>", `${key}; me for the one in $RELCAT_API_KEY`)
    .addOption(orDatabase())
    .addOption(atUrl())
    .option("--overlap <hours>", "that the old secret works on, default 24", asCount)
    .action((word, options) =>
      run(async (host) => (await import("./controller-keys.ts")).rotateKey(word, options, host)),
    );
  row(keys, "revoke", "End a key for good.", "relcat controller keys revoke fleet")
    .argument("<key>", key)
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await import("./controller-keys.ts")).revokeKey(word, options, host)),
    );
  for (const [name, what, isDisabled] of [
    ["disable", "Stop a key until it is enabled again.", true],
    ["enable", "Let a disabled key work again.", false],
  ] as const)
    row(keys, name, what, `relcat controller keys ${name} fleet`)
      .argument("<key>", key)
      .addOption(orDatabase())
      .addOption(atUrl())
      .action((word, options) =>
        run(async (host) =>
          (await import("./controller-keys.ts")).setDisabled(word, isDisabled, options, host),
        ),
      );
}

function addUsers(controller: CommandUnknownOpts, run: Run): void {
  const users = row(controller, "users", "Make, list and change users.", "relcat controller users list");
  const user = "email address, user name or id";
  row(
    users,
    "add",
    "Make a user; the password is asked for.",
    "relcat controller users add ann@example.com --role FullAdministrator",
  )
    .argument("<email>", "which they sign in with")
    .addOption(new Option("--role <role>", "what they may do").choices(roles).default("User" as const))
    .option("--name <name>", "as people say it")
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((email, options) =>
      run(async (host) => (await import("./controller-users.ts")).addUser(email, options, host)),
    );
  row(users, "list", "Show all users.", "relcat controller users list")
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./controller-users.ts")).listUsers(options, host)),
    );
  row(users, "passwd", "Give a user another password.", "relcat controller users passwd ann@example.com")
    .argument("<user>", user)
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await import("./controller-users.ts")).setPassword(word, options, host)),
    );
  row(users, "role", "Give a user another role.", "relcat controller users role ann@example.com Owner")
    .argument("<user>", user)
    .addArgument(new Argument("<role>").choices(roles))
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((word, role, options) =>
      run(async (host) => (await import("./controller-users.ts")).changeUser(word, { role }, options, host)),
    );
  for (const [name, what, status] of [
    ["disable", "Lock a user out, at once.", "Disabled"],
    ["enable", "Let a disabled user in again.", "Active"],
  ] as const)
    row(users, name, what, `relcat controller users ${name} ann@example.com`)
      .argument("<user>", user)
      .addOption(orDatabase())
      .addOption(atUrl())
      .action((word, options) =>
        run(async (host) =>
          (await import("./controller-users.ts")).changeUser(word, { status }, options, host),
        ),
      );
}

function addAudit(controller: CommandUnknownOpts, run: Run): void {
  const audit = row(controller, "audit", "Read and prove the audit log.", "relcat controller audit show");
  row(
    audit,
    "verify",
    "Prove that nobody changed the log.",
    "relcat controller audit verify --database controller.db",
  )
    .addOption(onDatabase())
    .option("--head <line>", "what an earlier verify printed: the log must still contain it")
    .action((options) =>
      run(async (host) => (await import("./controller-audit.ts")).verifyAuditLog(options, host)),
    );
  row(
    audit,
    "show",
    "Show who did what, the newest first.",
    "relcat controller audit show --code device.state",
  )
    .option("--target <id>", "of a device, user or key")
    .option("--code <code>", "such as device.state or auth.failed")
    .option("--limit <count>", "rows, default 100, 1000 at most", asCount)
    .addOption(orDatabase())
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./controller-audit.ts")).showAuditLog(options, host)),
    );
}

function addKeeping(controller: CommandUnknownOpts, run: Run): void {
  row(
    controller,
    "backup",
    "Copy the database while the server runs.",
    "relcat controller backup backup.db --database controller.db",
  )
    .argument("<file>", "a new one")
    .addOption(onDatabase())
    .option("--with-pepper", "put the pepper beside it")
    .action((file, options) =>
      run(async (host) => (await import("./controller-backup.ts")).backUpController(file, options, host)),
    );
  row(
    controller,
    "restore",
    "Make a database of a backup.",
    "relcat controller restore backup.db --database controller.db",
  )
    .argument("<file>", "a backup")
    .requiredOption("--database <file>", "a new one")
    .action((file, options) =>
      run(async (host) => (await import("./controller-backup.ts")).restoreController(file, options, host)),
    );
  row(
    controller,
    "migrate",
    "Bring a database to this version's form.",
    "relcat controller migrate --database controller.db",
  )
    .addOption(onDatabase())
    .action((options) =>
      run(async (host) => (await import("./controller-backup.ts")).migrateController(options, host)),
    );
}
