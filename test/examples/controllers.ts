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
      prints: /export RELCAT_API_KEY=/,
    },
    "controller keys revoke": { prints: /Revoked \S+ \(fleet\)/ },
    "controller users add": { input: password, prints: /ann@example\.com/ },
    "controller users list": { prints: /ann@example\.com +.*FullAdministrator/ },
    "controller users passwd": { input: password, prints: /ann@example\.com/ },
    "controller users role": { prints: /ann@example\.com/ },
    "controller users disable": { prints: /ann@example\.com/ },
    "controller users enable": { prints: /ann@example\.com/ },
    "devices accept": {
      prepare: async () => {
        await served().enroll({ name: "laptop-7", serial: "SN-1007" });
        writeFileSync(join(served().folder, "delivery.csv"), "Asset,Serial Number\n1,SN-1007\n2,SN-1001\n");
      },
      prints: /Accepted 1 device[\s\S]*1 unknown serial number is approved in advance/,
    },
    "devices enroll": { prints: /is accepted/ },
    "devices rename": { prints: /laptop-8/ },
    "devices list": { prepare: () => served().enroll({ name: "laptop-9" }), prints: /laptop-9/ },
    "devices show": { prints: /SN-1007/ },
    "devices assign": { prints: /ann@example\.com/ },
    "devices export": { prints: /./, after: "grep -q laptop-7 devices.jsonl" },
    "devices import": { prints: /nothing was changed|no change/i },
    "devices watch": {
      meanwhile: [/Watching https:/, () => served().succeed(["devices", "accept", "laptop-9"])],
      until: /^\{.*\}$/m,
      prints: /"event_code":"device\.state"/,
      ends: "SIGINT",
    },
    "devices reject": { prints: /Rejected 1 device/ },
    "devices history": { prints: /Stolen\./ },
    "devices delete": { answer: "y", prints: /Deleted/ },
    "controller audit show": { prints: /device\.state|accepted/ },
    "controller audit verify": { prints: /intact/ },
    "controller backup": {
      prints: /backup\.db/,
      after: "test -s backup.db && mkdir aside && mv backup.db aside",
    },
    "controller restore": { in: "aside", prints: /Restored backup\.db as controller\.db/ },
    "controller migrate": { in: "aside", prints: /controller\.db/ },
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
      prints: /owner@example\.com/,
      after: "test -s controller.db",
    },
    "controller demo": {
      in: "new",
      isServer: true,
      prints: /200 devices enrol/,
      until: /relcat devices history/,
    },
  };
}

const apiKeyOf = ({ env }: ServedController) => ({
  RELCAT_API_KEY_ID: env.RELCAT_API_KEY_ID,
  RELCAT_API_KEY: env.RELCAT_API_KEY,
});
