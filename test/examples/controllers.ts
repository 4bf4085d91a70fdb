import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerEmail, ownerPassword, type ServedController } from "../support/controller.ts";
import type { Example } from "./example.ts";

const password = "a long enough password\n";

/**
 * In the folder of a controller that serves https://controller.example.com; each finds what those before it left.
 * @param served known once the tests run
 */
export function controllerExamples(served: () => ServedController): Readonly<Record<string, Example>> {
  return {
    login: {
      input: `${ownerEmail}\n${ownerPassword}\n`,
      prints: /Signed in to https:\/\/controller\.example\.com as owner@example\.com \(Owner\)/,
    },
    "controller keys create": { prints: /The secret is shown only once/, after: "relcat devices list" },
    "controller keys list": { prints: /fleet +in use/ },
    "controller keys disable": { prints: /Disabled \S+ \(fleet\)/ },
    "controller keys enable": { prints: /Enabled \S+ \(fleet\)/ },
    "controller keys rotate": {
      env: () => apiKeyOf(served()),
      prints: /The old secret works until/,
      after: "relcat devices list",
    },
    "controller keys revoke": { prints: /Revoked \S+ \(fleet\)/ },
    "controller users add": {
      input: password,
      prints: /Created the user ann@example\.com with the role FullAdministrator/,
    },
    "controller users list": { prints: /ann@example\.com +.*FullAdministrator/ },
    "controller users passwd": { input: password, prints: /ann@example\.com has a new password/ },
    "controller users role": { prints: /ann@example\.com: Owner, Active/ },
    "controller users disable": { prints: /ann@example\.com: Owner, Disabled/ },
    "controller users enable": { prints: /ann@example\.com: Owner, Active/ },
    "devices accept": {
      prepare: async () => {
        await served().enroll({ name: "laptop-7", serial: "SN-1007" });
        writeFileSync(join(served().folder, "delivery.csv"), "Asset,Serial Number\n1,SN-1007\n2,SN-1001\n");
      },
      prints: /Accepted 1 device[\s\S]*1 unknown serial number is approved in advance/,
    },
    "devices enroll": { prints: /is accepted/ },
    "devices rename": { prints: /is now called laptop-8/ },
    "devices list": { prepare: () => served().enroll({ name: "laptop-9" }), prints: /pending .*laptop-9/ },
    "devices show": { prints: /SN-1007/ },
    "devices assign": { prints: /is now assigned to ann@example\.com/ },
    "devices export": { prints: /Exported 3 devices/, after: "grep -q laptop-7 devices.jsonl" },
    "devices import": {
      prepare: () => served().succeed(["devices", "rename", "laptop-8", "laptop-11"]),
      prints: /^Would set 0 states, 1 name,/,
    },
    "devices watch": {
      meanwhile: [/Watching https:/, () => served().succeed(["devices", "accept", "laptop-9"])],
      until: /^\{.*\}$/m,
      prints: /"code":"device\.state"/,
      ends: "SIGINT",
    },
    "devices reject": { prints: /Rejected 1 device/ },
    "devices history": { prints: /Stolen\./ },
    "devices delete": { answer: "y", prints: /Deleted 1 device/ },
    "controller audit show": { prints: /Device state changed .*State: pending → accepted/ },
    "controller audit verify": { prints: /The audit log is intact/ },
    "controller backup": {
      prints: /Wrote backup\.db/,
      after:
        "test -s backup.db && mkdir aside && mv backup.db aside && cp controller.db.pepper aside/backup.db.pepper",
    },
    "controller restore": { in: "aside", prints: /Restored backup\.db as controller\.db/ },
    "controller migrate": { in: "aside", prints: /already has the schema of this version/ },
    "controller serve": {
      in: "aside",
      isServer: true,
      prints: /Serving the controller in controller\.db/,
      until: /on http:\/\/127\.0\.0\.1:8081\/.*Ctrl-C stops it/,
    },
    logout: { prints: /Signed out of https:\/\/controller\.example\.com/, after: "! relcat devices list" },
    "controller init": {
      in: "new",
      input: password,
      prints: /its Owner is owner@example\.com/,
      after: "test -s controller.db",
    },
  };
}

const apiKeyOf = ({ env }: ServedController) => ({
  RELCAT_API_KEY_ID: env.RELCAT_API_KEY_ID,
  RELCAT_API_KEY: env.RELCAT_API_KEY,
});
