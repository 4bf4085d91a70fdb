import type { ServerAnswer } from "../../../service/http/request.ts";
import { nameOfUser, type User } from "../access.ts";
import { Refused } from "../call.ts";
import {
  type Device,
  type DeviceState,
  deviceStates,
  type StateItem,
  type StateRequest,
} from "../devices/device-documents.ts";
import { historyOf } from "./audit-rows.ts";
import { capital, choices, choicesBut, listAddress, twinsOf } from "./devices-page.ts";
import { fieldOf } from "./form.ts";
import { may, page, redirectTo, type SignedIn } from "./visit.ts";
import { counted, momentOf } from "./words.ts";

export async function devicePage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, params, url } = visit;
  const id = params.id ?? "";
  const { body: device } = await ask("readDevice", { params: { id } });
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
  const { body } = await ask("listUsers");
  return Object.values(body);
}

const ownersOf = (users: readonly User[], current: string | null) => [
  { id: "", text: "nobody", current: current === null },
  ...users.map((user) => ({ id: user.id, text: nameOfUser(user), current: user.id === current })),
];

/** Omits unknown values. */
function factsOf(device: Device, { now }: SignedIn, users: readonly User[]) {
  const owner = users.find(({ id }) => id === device.assigned_to_user);
  const person = owner && nameOfUser(owner);
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

/** More devices than this need a confirmation. */
const handful = 5;

const was = (state: DeviceState) => (item: StateItem) =>
  "previous_state" in item && item.previous_state === state;

/** `POST /devices`: accepts or rejects the selected devices, all or nothing. */
export async function decideDevices(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form, url } = visit;
  const state = stateOf(form.get("state"));
  const reason = fieldOf(form, "reason");
  const chosen = chosenOf(form, state, reason);
  const back = listAddress(url.searchParams);
  const rejected = await rejectedOf(visit, state, chosen);
  const isSure = form.get("sure") === "yes";
  if (!isSure && (chosen.length > handful || rejected.size > 0))
    return confirmationPage(visit, { state, reason, devices: chosen, rejected, back });
  const isIncluded = form.get("include_rejected") === "yes";
  const devices = isIncluded ? chosen : chosen.filter(({ id }) => !rejected.has(id));
  if (devices.length === 0) throw new Refused("invalid", "All of them are rejected: nothing was changed.");
  const { body } = await ask("setDeviceStates", { body: { devices } });
  const code = body.changed === 0 ? "unchanged" : state;
  return redirectTo(visit, form.get("back") === "device" ? devicePath(devices) : back, {
    code,
    count: body.changed,
  });
}

/** Rejected devices are left out of a bulk acceptance unless the visitor includes them. */
async function rejectedOf(
  { ask }: SignedIn,
  state: DeviceState,
  devices: StateRequest["devices"],
): Promise<Set<string>> {
  if (state !== "accepted" || devices.length < 2) return new Set();
  const { body } = await ask("setDeviceStates", { body: { devices, dry_run: true } });
  const found = body.devices.filter(was("rejected"));
  return new Set(found.map(({ id }) => id));
}

const devicePath = ([first]: StateRequest["devices"]): string => `/devices/${first?.id}`;

function stateOf(given: string | null): DeviceState {
  const state = deviceStates.find((each) => each === given);
  if (state === undefined) throw new Refused("invalid", "Choose whether to accept or to reject.");
  return state;
}

/** Devices that changed since their list was displayed are refused. */
function chosenOf(
  form: URLSearchParams,
  state: DeviceState,
  reason: string | undefined,
): StateRequest["devices"] {
  // Each checkbox sends one id; the confirmation sends all ids in one field.
  const values = form.getAll("device").flatMap((value) => value.split(" "));
  const chosen = values.map((value) => {
    const [id = "", version = ""] = value.split(".");
    return { id, state, if_version: Number(version), ...(reason !== undefined && { reason }) };
  });
  if (chosen.length > 0) return chosen;
  throw new Refused("invalid", "No device is selected: tick at least one.");
}

interface Decision {
  state: DeviceState;
  reason: string | undefined;
  devices: StateRequest["devices"];
  rejected: ReadonlySet<string>;
  back: string;
}

async function confirmationPage(
  visit: SignedIn,
  { state, reason, devices, rejected, back }: Decision,
): Promise<ServerAnswer> {
  // Errors are reported before the confirmation, not after it.
  const { body } = await visit.ask("setDeviceStates", { body: { devices, dry_run: true } });
  const leaving = body.devices.filter(was("accepted")).length;
  const what = counted(devices.length, "device");
  const { verb, kind } = choices[state];
  const title = state === "pending" ? `Set ${what} back to pending?` : `${verb} ${what}?`;
  const names = may(visit.me, "readDevice") ? await namesOf(visit, devices) : new Map<string, string>();
  const twins = (body.same_serial ?? []).map(({ id }) => names.get(id) ?? id);
  const stay = devices.filter(({ id }) => rejected.has(id)).map(({ id }) => names.get(id) ?? id);
  return page(visit, "confirm", title, {
    title,
    rejected:
      stay.length === 0
        ? ""
        : `${counted(stay.length, "rejected device")} ${stay.length === 1 ? "stays" : "stay"} so`,
    rejectedNames: firstOf(stay),
    twins: twins.length === 0 ? "" : counted(twins.length, "device"),
    twinNames: firstOf(twins),
    state,
    kind,
    verb: title.slice(0, -1),
    reason: reason ?? "",
    action: back,
    isRejection: state === "rejected",
    leaving: state === "accepted" || leaving === 0 ? "" : counted(leaving, "device"),
    values: devices.map(({ id, if_version }) => `${id}.${if_version}`).join(" "),
    devices: devices.map(({ id }) => ({
      name: names.get(id) ?? id,
      href: `/devices/${id}`,
    })),
  });
}

const firstOf = (names: readonly string[]): string =>
  [names.slice(0, 3).join(", "), names.length > 3 ? `and ${names.length - 3} more` : ""].join(" ").trim();

async function namesOf(
  { controller: { database } }: SignedIn,
  devices: StateRequest["devices"],
): Promise<Map<string, string>> {
  const rows = await database.read
    .selectFrom("devices")
    .select(["id", "name", "serial"])
    .where(
      "id",
      "in",
      devices.map(({ id }) => id),
    )
    .execute();
  return new Map(rows.map(({ id, name, serial }) => [id, name ?? serial ?? id]));
}
