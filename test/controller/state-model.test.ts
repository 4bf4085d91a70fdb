import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { allScopes, type Item, setStates } from "./state-support.ts";
import { type KeyPair, newPair, type TestController, type TestKey, testController } from "./support.ts";

type State = Item["state"];
type Decision = "accepted" | "rejected" | "retain" | "none";
type Step =
  | { kind: "enrol"; pair: number; serial: number }
  | { kind: "bulk"; moves: { device: number; state: State }[]; isLenient: boolean }
  | { kind: "decide"; serial: number; state: Decision };

interface Modelled {
  id: string;
  state: State;
  serial: number;
  version: number;
  hasToken: boolean;
}

/** A minimal model of the service. */
class Model {
  readonly devices: Modelled[] = [];
  readonly byPair = new Map<number, Modelled>();
  readonly serials = new Map<number, { state: Decision; isRejection: boolean }>();

  enrol(pair: number, serial: number, id: string) {
    const known = this.byPair.get(pair);
    if (known) return { status: 200, ...this.#greeted(known) };
    const decision = this.serials.get(serial);
    const before = this.devices.filter((device) => device.serial === serial).at(-1)?.state ?? "pending";
    const state = decision?.state === "retain" ? before : ((decision?.state ?? "pending") as State);
    const device = { id, state, serial, version: 1, hasToken: false };
    if (decision?.state === "accepted") this.serials.delete(serial);
    this.devices.push(device);
    this.byPair.set(pair, device);
    return { status: 201, ...this.#greeted(device) };
  }

  #greeted(device: Modelled) {
    const isGiven = device.state === "accepted" && !device.hasToken;
    device.hasToken ||= isGiven;
    return { id: device.id, state: device.state, hasToken: isGiven };
  }

  move(device: Modelled, state: State) {
    if (device.state === state) return;
    Object.assign(device, {
      state,
      version: device.version + 1,
      hasToken: state === "accepted" && device.hasToken,
    });
  }

  /** Acceptances free serial numbers first, then rejections claim theirs. */
  bulk(moves: { device: Modelled; state: State }[]) {
    const changing = moves.filter(({ device, state }) => device.state !== state);
    for (const { device, state } of changing)
      if (state === "accepted" && this.serials.get(device.serial)?.isRejection)
        this.serials.delete(device.serial);
    for (const { device, state } of changing)
      if (state === "rejected") this.serials.set(device.serial, { state: "rejected", isRejection: true });
    for (const { device, state } of changing) this.move(device, state);
  }

  decide(serial: number, state: Decision): number {
    const before = this.serials.get(serial);
    if (before?.isRejection && (state === "accepted" || state === "retain")) return 409;
    if (state === "none") this.serials.delete(serial);
    else if (!before?.isRejection) this.serials.set(serial, { state, isRejection: false });
    return 200;
  }
}

const states = fc.constantFrom<State>("pending", "accepted", "rejected");
const small = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("enrol" as const), pair: fc.nat({ max: 7 }), serial: small }),
  fc.record({
    kind: fc.constant("bulk" as const),
    // 8 is a device that does not exist.
    moves: fc.array(fc.record({ device: fc.nat({ max: 8 }), state: states }), { minLength: 1, maxLength: 6 }),
    isLenient: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("decide" as const),
    serial: small,
    state: fc.constantFrom<Decision>("accepted", "rejected", "retain", "none"),
  }),
);

let controller: TestController;
let key: TestKey;
let run = 0;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
});

const pairs = Array.from({ length: 8 }, newPair);

async function take(model: Model, serialOf: (serial: number) => string, pairsNow: KeyPair[], given: Step) {
  if (given.kind === "enrol") {
    const { status, json } = await controller.enroll(
      { serial: serialOf(given.serial) },
      pairsNow[given.pair],
    );
    const expected = model.enrol(given.pair, given.serial, json.id);
    expect({ status, id: json.id, state: json.state, hasToken: "token" in json }).toEqual(expected);
  } else if (given.kind === "decide") {
    const body = { auth_decisions: [{ serial: serialOf(given.serial), enforce_state: given.state }] };
    const { status } = await controller.call("POST", "/device/auth_decisions", { ...key, body });
    expect(status).toBe(model.decide(given.serial, given.state));
  } else await takeBulk(model, given);
}

async function takeBulk(model: Model, { moves, isLenient }: Extract<Step, { kind: "bulk" }>) {
  const found = moves.map(({ device, state }) => ({
    device: device === 8 ? undefined : model.devices[device % Math.max(1, model.devices.length)],
    state,
  }));
  const unique = [...new Map(found.map((move) => [move.device?.id ?? "unknown", move]))];
  const known = unique.flatMap(([, { device, state }]) => (device ? [{ device, state }] : []));
  const items = unique.map(([id, { state }]) => ({ id, state }));
  const changed = known.filter(({ device, state }) => device.state !== state).length;
  const preference = isLenient ? "handling=lenient" : undefined;
  const { status, json } = await setStates(controller, key, items, {}, preference);
  expect(status).toBe(known.length === unique.length || isLenient ? 200 : 404);
  if (status !== 200) return;
  expect(json.changed).toBe(changed);
  model.bulk(known);
}

test("states, versions, tokens and serial numbers follow the model in any order of events", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const prefix = `RUN-${run++}-`;
      const serialOf = (serial: number) => `${prefix}${serial}`;
      const [model, pairsNow] = [new Model(), pairs.map(() => newPair())];
      for (const given of steps) await take(model, serialOf, pairsNow, given);
      const { json } = await controller.call("GET", "/device", key);
      for (const { id, state, version } of model.devices)
        expect(json.devices[id]).toMatchObject({ state, version });
      const decisions = (await controller.call("GET", "/device/auth_decisions", key)).json.auth_decisions;
      const own = decisions.filter(({ serial }: { serial: string }) => serial.startsWith(prefix));
      expect(
        Object.fromEntries(
          own.map((row: Record<string, string>) => [row.serial, [row.enforce_state, row.source]]),
        ),
      ).toEqual(
        Object.fromEntries(
          [...model.serials].map(([serial, { state, isRejection }]) => [
            serialOf(serial),
            [state, isRejection ? "rejection" : "decision"],
          ]),
        ),
      );
    }),
    { numRuns: often(40, 10), seed: 20260321 },
  );
});
