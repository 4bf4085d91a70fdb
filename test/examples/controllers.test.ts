import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, test } from "vitest";
import { localWeb } from "../docs/local-web.ts";
import { launcher } from "../docs/pasted.ts";
import { type ServedController, servedController } from "../support/controller.ts";
import { temporaryFolder } from "../support/run.ts";
import { controllerExamples } from "./controllers.ts";
import { type Place, tryExample } from "./paste.ts";

let served: ServedController;
let env: Place["env"];

beforeAll(async () => {
  served = await servedController();
  const base = temporaryFolder();
  const [bin, home] = [join(base, "bin"), join(base, "home")];
  for (const folder of [bin, home, join(served.folder, "new")]) mkdirSync(folder);
  writeFileSync(join(bin, "relcat"), await launcher(base));
  chmodSync(join(bin, "relcat"), 0o755);
  env = {
    ...(await localWeb({ "controller.example.com": served.url })),
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    XDG_STATE_HOME: "",
    CI: "",
  };
});

test.each(Object.entries(controllerExamples(() => served)))(
  "the example in the help of relcat %s works when it is pasted",
  async (command, example) => {
    await example.prepare?.();
    const place = { cwd: join(served.folder, example.in ?? "."), env: { ...env, ...example.env?.() } };
    await tryExample(command.split(" "), example, place);
  },
);
