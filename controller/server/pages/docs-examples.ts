import type { ControllerOperation } from "../routes.ts";

const device = "7d0f6a4e-3c1b-4f0a-9a51-3d2c8e7b6f10";

/** One request body per operation; a test validates them against the contract. */
export const bodyExamples: Partial<Record<ControllerOperation, unknown>> = {
  setDeviceStates: { devices: [{ id: device, state: "accepted" }] },
  assignDevice: { device_id: device, user_id: "2f1c9d5e-8a7b-4c3d-b2e1-0f9e8d7c6b5a" },
  setAuthDecisions: { auth_decisions: [{ serial: "5CG2140XYZ", enforce_state: "accepted" }] },
  enrollDevice: {
    public_key: `${"A".repeat(43)}=`,
    name: "berlin-laptop-007",
    serial: "5CG2140XYZ",
    nonce: "from GET device/enroll",
    proof: `${"A".repeat(86)}==`,
  },
  changeDevice: { name: "berlin-laptop-007" },
  createApiKey: { name: "nightly export", scopes: ["devices:read"], expires_in_days: 30 },
  rotateOwnApiKey: { overlap_hours: 2 },
  changeApiKey: { disabled: true },
  rotateApiKey: { overlap_hours: 2 },
  login: { email: "ada@example.com", password: "correct horse battery staple" },
  changeMe: { password: "another long password", current_password: "correct horse battery staple" },
  createToken: { name: "my laptop" },
  upsertUser: { email: "ben@example.com", role: "LimitedAdministrator", authz_devices: true },
};

/** Example parameters. */
export const queryExamples: Partial<Record<ControllerOperation, string>> = {
  listDevices: "?state=pending&limit=100",
  listAudit: "?code=device.state&limit=20",
  streamEvents: "?after=4711",
};
