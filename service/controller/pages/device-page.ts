import type { ServerAnswer } from "../../http/request.ts";
import type { Device, DeviceState } from "../devices/device-documents.ts";
import { Refused } from "../problems.ts";
import { may } from "./ask.ts";
import { type AuditEntry, entryOf } from "./audit-page.ts";
import { capital, choicesBut } from "./devices-page.ts";
import { fieldOf } from "./form.ts";
import { page, redirectTo, type SignedIn } from "./visit.ts";
import { momentOf, sinceOf } from "./words.ts";

/** Rows of history on a device's page. */
const longestHistory = "200";

/** `GET /devices/{id}` */
export async function devicePage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, params, url } = visit;
  const id = params.id ?? "";
  const { body: device } = await ask<Device>("readDevice", { params: { id } });
  const [history, users] = await Promise.all([historyOf(visit, id), usersOf(visit)]);
  const { state, name, version } = device;
  const canDecide = may(me, "setDeviceStates");
  const canChange = may(me, "changeDevice");
  return page(visit, "device", name ?? id, {
    id,
    name: name ?? "Device without a name",
    given: name ?? "",
    state,
    value: `${id}.${version}`,
    reason: device.state_reason ?? "",
    facts: factsOf(device, visit, users),
    key: device.public_key,
    choices: canDecide ? choicesBut(state) : [],
    canChange,
    owners: canChange && users.length > 0 ? ownersOf(users, device.assigned_to_user) : [],
    canDelete: may(me, "deleteDevice") && state === "rejected",
    asksToDelete: url.searchParams.get("ask") === "delete",
    isForbiddenHistory: !may(me, "listAudit"),
    history,
    list: `/devices?state=${state}`,
    listName: capital(state),
  });
}

interface Person {
  id: string;
  email: string | null;
  username: string | null;
}

const nameOf = ({ email, username }: Person): string => email ?? username ?? "";

async function usersOf({ ask, me }: SignedIn): Promise<Person[]> {
  if (!may(me, "listUsers")) return [];
  const { body } = await ask<Record<string, Person>>("listUsers");
  return Object.values(body);
}

const ownersOf = (users: readonly Person[], current: string | null) => [
  { id: "", text: "nobody", current: current === null },
  ...users.map((user) => ({ id: user.id, text: nameOf(user), current: user.id === current })),
];

async function historyOf({ ask, me }: SignedIn, id: string) {
  if (!may(me, "listAudit")) return [];
  const { body } = await ask<{ audit_log: AuditEntry[] }>("listAudit", {
    query: { target: id, limit: longestHistory },
  });
  return body.audit_log.map(entryOf);
}

/** Omits unknown values. */
function factsOf(device: Device, { now }: SignedIn, users: readonly Person[]) {
  const owner = users.find(({ id }) => id === device.assigned_to_user);
  const person = owner && nameOf(owner);
  const moments = (iso: string | null) => {
    const moment = momentOf(iso);
    return moment ? { ...moment, since: sinceOf(iso, now) ?? "" } : undefined;
  };
  const facts = [
    { name: "Serial number", value: device.serial },
    { name: "Type", value: [device.device_type, device.device_os].filter(Boolean).join(" · ") },
    { name: "First contact", moment: moments(device.created_at) },
    { name: "Last seen", moment: moments(device.last_seen) },
    { name: "Client version", value: device.last_seen_version },
    { name: "State since", moment: moments(device.state_changed_at) },
    { name: "IPv6", value: device.ipv6 },
    { name: "Organisation", value: device.owned_by_org },
    { name: "Assigned to", value: person ?? device.assigned_to_user },
  ];
  return facts
    .filter(({ value, moment }) => value || moment)
    .map(({ name, value = "", moment = null }) => ({ name, value: value ?? "", moment }));
}

/** `POST /devices/{id}`: renames, assigns or deletes it. */
export async function changeDevice(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form, params } = visit;
  const id = params.id ?? "";
  const here = `/devices/${id}`;
  const what = form.get("what");
  if (what === "rename") {
    await ask("changeDevice", { params: { id }, body: { name: fieldOf(form, "name") ?? null } });
    return redirectTo(visit, here, { code: "renamed" });
  }
  if (what === "assign") {
    await ask("assignDevice", { body: { device_id: id, user_id: fieldOf(form, "user") ?? null } });
    return redirectTo(visit, here, { code: "assigned" });
  }
  if (what === "delete") {
    await ask("deleteDevice", { params: { id } });
    return redirectTo(visit, `/devices?state=${"rejected" satisfies DeviceState}`, { code: "deleted" });
  }
  throw new Refused("invalid", "The form contains no valid action.");
}
