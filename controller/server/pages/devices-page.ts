import type { ServerAnswer } from "../../../service/http/request.ts";
import { type Device, type DeviceState, deviceStates } from "../devices/device-documents.ts";
import { findAccepted, serialKey, twinsAmong } from "../devices/device-rows.ts";
import { may, page, type SignedIn } from "./visit.ts";
import { counted, momentOf, numberOf } from "./words.ts";

const sizes = [100, 1000];

/** `GET /devices`: pending devices by default. */
export async function devicesPage(visit: SignedIn): Promise<ServerAnswer> {
  const choice = choiceOf(visit.url.searchParams);
  const { q, size, cursor } = choice;
  const [tabs, { body, headers }] = await Promise.all([
    tabsOf(visit, choice),
    visit.ask("listDevices", {
      query: { state: choice.state, q, limit: String(size), sort: "name", cursor },
    }),
  ]);
  const total = Number(headers["X-Total-Count"]);
  const devices = Object.values(body.devices);
  const twins = await twinsOf(devices, visit);
  const toPage = (rel: "next" | "prev") => {
    const to = cursorIn(headers.Link, rel, visit.url);
    return to === undefined ? "" : addressOf({ ...choice, cursor: to });
  };
  const canDecide = may(visit.me, "setDeviceStates");
  const title = choice.state === undefined ? "Devices" : `${capital(choice.state)} devices`;
  return page(visit, "devices", title, {
    title,
    action: addressOf({ ...choice, cursor: undefined }),
    state: choice.state ?? "all",
    isPending: choice.state === "pending",
    showsState: choice.state === undefined,
    q: q ?? "",
    size: size === sizes[0] ? "" : String(size),
    tabs,
    found: q === undefined ? "" : `${counted(total, "device")} with “${q}”`,
    devices: devices.map((device) => ({ ...rowOf(device, visit), twin: twins.get(device.id) ?? null })),
    canDecide,
    choices: canDecide ? choicesBut(choice.state) : [],
    chooseAll: canDecide ? `${addressOf(choice)}&chosen=all` : "",
    shown: total > devices.length ? `${numberOf(devices.length)} of ${counted(total, "device")}` : "",
    first: cursor === undefined ? "" : addressOf({ ...choice, cursor: undefined }),
    previous: toPage("prev"),
    next: toPage("next"),
    sizes: total > 100 ? sizesOf(choice) : [],
  });
}

export const choices: Record<DeviceState, { verb: string; kind: string }> = {
  accepted: { verb: "Accept", kind: "strong" },
  rejected: { verb: "Reject", kind: "danger" },
  pending: { verb: "Set back to pending", kind: "plain" },
};

/** Buttons for the other states; accepting is last, because it is the most frequent. */
export const choicesBut = (current: DeviceState | undefined) =>
  (["rejected", "pending", "accepted"] as const)
    .filter((state) => state !== current)
    .map((state) => ({ state, ...choices[state] }));

export const capital = (word: string): string => word.replace(/^./, (letter) => letter.toUpperCase());

type Choice = ReturnType<typeof choiceOf>;

function choiceOf(query: URLSearchParams) {
  const asked = query.get("state") ?? "pending";
  const size = Number(query.get("size"));
  return {
    state: deviceStates.find((state) => state === asked),
    q: query.get("q")?.trim() || undefined,
    size: sizes.includes(size) ? size : (sizes[0] ?? 100),
    cursor: query.get("cursor") ?? undefined,
  };
}

function addressOf({ state = "all" as never, q, size, cursor }: Choice): string {
  const query = new URLSearchParams({ state });
  if (q !== undefined) query.set("q", q);
  if (size !== sizes[0]) query.set("size", String(size));
  if (cursor !== undefined) query.set("cursor", cursor);
  return `/devices?${query}`;
}

/** The cursor is dropped, because the decided devices are no longer in the list. */
export const listAddress = (query: URLSearchParams): string =>
  addressOf({ ...choiceOf(query), cursor: undefined });

async function tabsOf({ ask }: SignedIn, choice: Choice) {
  const all = [...deviceStates, undefined];
  return Promise.all(
    all.map(async (state) => {
      const { headers } = await ask("listDevices", { query: { state, q: choice.q, limit: "1" } });
      return {
        text: capital(state ?? "all"),
        count: numberOf(Number(headers["X-Total-Count"])),
        href: addressOf({ ...choice, state, cursor: undefined }),
        current: state === choice.state,
      };
    }),
  );
}

/** Cursor of a neighbouring page, from the API's Link header. */
function cursorIn(link: string | undefined, rel: "next" | "prev", base: URL): string | undefined {
  const [, target] = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(link ?? "") ?? [];
  return target === undefined ? undefined : (new URL(target, base).searchParams.get("cursor") ?? undefined);
}

const sizesOf = (choice: Choice) =>
  sizes.map((size) => ({
    text: numberOf(size),
    href: addressOf({ ...choice, size, cursor: undefined }),
    current: size === choice.size,
  }));

/** A rejected device is expected to share its serial number with the machine's new key. */
export async function twinsOf(devices: readonly Device[], { controller }: SignedIn) {
  const asked = devices
    .filter(({ state }) => state !== "rejected")
    .map(({ id, serial }) => ({ id, serial_key: serialKey(serial) }));
  const serials = JSON.stringify(asked.map(({ serial_key }) => serial_key));
  return twinsAmong(asked, await findAccepted(controller.database.read, serials));
}

function rowOf(device: Device, { now, url }: SignedIn) {
  const { id, name, serial, state, version, device_type, device_os } = device;
  return {
    id,
    value: `${id}.${version}`,
    name: name ?? "without a name",
    label: [name ?? id, serial].filter(Boolean).join(", "),
    isNamed: name !== null,
    serial: serial ?? "",
    kind: [device_type, device_os].filter(Boolean).join(" · "),
    state,
    created: momentOf(device.created_at, now),
    changed: momentOf(device.state_changed_at, now),
    seen: momentOf(device.last_seen, now),
    reason: device.state_reason ?? "",
    chosen: url.searchParams.get("chosen") === "all",
  };
}
