import type { ServerAnswer } from "../../../service/http/request.ts";
import type { User } from "../access.ts";
import type { Device, DeviceState } from "../devices/device-documents.ts";
import { Refused } from "../problems.ts";
import { may } from "./ask.ts";
import { historyOf } from "./audit-rows.ts";
import { capital, choicesBut, twinsOf } from "./devices-page.ts";
import { fieldOf } from "./form.ts";
import { personOf } from "./user-fields.ts";
import { page, redirectTo, type SignedIn } from "./visit.ts";
import { momentOf } from "./words.ts";

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
    twin: (await twinsOf([device], visit)).get(id) ?? null,
    facts: factsOf(device, visit, users),
    key: device.public_key,
    choices: canDecide ? choicesBut(state) : [],
    canChange,
    owners: canChange && users.length > 0 ? ownersOf(users, device.assigned_to_user) : [],
    canDelete: may(me, "deleteDevice") && state === "rejected",
    asksToDelete: url.searchParams.get("ask") === "delete",
    ...history,
    list: `/devices?state=${state}`,
    listName: capital(state),
  });
}

async function usersOf({ ask, me }: SignedIn): Promise<User[]> {
  if (!may(me, "listUsers")) return [];
  const { body } = await ask<Record<string, User>>("listUsers");
  return Object.values(body);
}

const ownersOf = (users: readonly User[], current: string | null) => [
  { id: "", text: "nobody", current: current === null },
  ...users.map((user) => ({ id: user.id, text: personOf(user), current: user.id === current })),
];

/** Omits unknown values. */
function factsOf(device: Device, { now }: SignedIn, users: readonly User[]) {
  const owner = users.find(({ id }) => id === device.assigned_to_user);
  const person = owner && personOf(owner);
  const facts = [
    { name: "Serial number", value: device.serial },
    { name: "Type", value: [device.device_type, device.device_os].filter(Boolean).join(" · ") },
    { name: "First contact", moment: momentOf(device.created_at, now) },
    { name: "Last seen", moment: momentOf(device.last_seen, now) },
    { name: "Client version", value: device.last_seen_version },
    { name: "Status since", moment: momentOf(device.state_changed_at, now) },
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
