import type { ServerAnswer } from "../../../service/http/request.ts";
import { Refused } from "../call.ts";
import type { AnswerOf } from "../contracts.ts";
import { enforcedStates } from "../devices/device-documents.ts";
import { fieldOf } from "./form.ts";
import { may, page, redirectTo, type SignedIn } from "./visit.ts";
import { counted, momentOf } from "./words.ts";

type Decision = AnswerOf<"listAuthDecisions">["auth_decisions"][number];

const pageSize = 100;

const tabs = [
  { key: "all", text: "All" },
  { key: "accepted", text: "Pre-approved" },
  { key: "rejected", text: "Rejected" },
  { key: "retain", text: "Held" },
] as const;
type Tab = (typeof tabs)[number];

const meanings: Record<Decision["enforce_state"], string> = {
  accepted: "accepted at first contact",
  rejected: "rejected at first contact",
  retain: "pending at first contact",
};

export async function serialsPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, url } = visit;
  const { body } = await ask("listAuthDecisions");
  const q = fieldOf(url.searchParams, "q") ?? "";
  const tab = tabs.find(({ key }) => key === url.searchParams.get("state")) ?? tabs[0];
  const found = body.auth_decisions
    .toReversed()
    .filter(({ serial }) => serial.toLowerCase().includes(q.toLowerCase()));
  const decisionsOf = ({ key }: Tab) =>
    found.filter(({ enforce_state }) => key === "all" || enforce_state === key);
  const listed = decisionsOf(tab);
  const last = Math.max(1, Math.ceil(listed.length / pageSize));
  const number = Math.min(last, Math.max(1, Math.floor(Number(url.searchParams.get("page"))) || 1));
  const link = (state: string, page = 1) =>
    `/serials?${new URLSearchParams({ state, ...(q && { q }), ...(page > 1 && { page: String(page) }) })}`;
  return page(visit, "serials", "Serial numbers", {
    q,
    state: tab.key,
    tabs: tabs.map((each) => ({
      text: each.text,
      count: String(decisionsOf(each).length),
      href: link(each.key),
      current: each === tab,
    })),
    canDecide: may(me, "setAuthDecisions"),
    options: enforcedStates.map((state) => ({
      state,
      text: optionTexts[state],
      checked: state === "accepted",
    })),
    serials: listed
      .slice((number - 1) * pageSize, number * pageSize)
      .map((decision) => rowOf(decision, visit.now)),
    shown: last > 1 ? `Page ${number} of ${last}, ${counted(listed.length, "serial number")}` : "",
    previous: number > 1 ? link(tab.key, number - 1) : "",
    next: number < last ? link(tab.key, number + 1) : "",
  });
}

const optionTexts: Record<Decision["enforce_state"], string> = {
  accepted: "Pre-approve: accept at first contact, once each",
  rejected: "Reject: every device that calls with it is rejected",
  retain: "Hold: wait for a decision, as pending",
};

const rowOf = ({ serial, enforce_state, device_id, source, created_at }: Decision, now: number) => ({
  serial,
  enforce_state,
  meaning: meanings[enforce_state],
  source: source === "rejection" ? "its device was rejected" : "decided by hand",
  device: device_id === null ? "" : `/devices/${device_id}`,
  created: momentOf(created_at, now),
});

/** `POST /serials`: decides on a list of serial numbers, or withdraws the selected decisions. */
export async function decideSerials(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form } = visit;
  const isBack = form.get("what") === "take-back";
  const serials = isBack ? form.getAll("serial") : linesOf(form.get("serials") ?? "");
  if (serials.length === 0)
    throw new Refused(
      "invalid",
      isBack ? "No serial number is selected." : "There is no serial number in the list.",
    );
  const enforce_state = isBack ? "none" : form.get("state");
  const include_rejected = form.get("include_rejected") === "yes";
  const { body } = await ask("setAuthDecisions", {
    body: { auth_decisions: serials.map((serial) => ({ serial, enforce_state })), include_rejected },
  });
  if (body.left_out) return leftOutPage(visit, serials.length, body.left_out);
  return redirectTo(visit, "/serials", { code: isBack ? "undecided" : "decided", count: serials.length });
}

function leftOutPage(
  visit: SignedIn,
  asked: number,
  { rejected, serials }: NonNullable<AnswerOf<"setAuthDecisions">["left_out"]>,
): ServerAnswer {
  const title = `${counted(rejected, "serial number")} stayed rejected`;
  const detail = `${counted(asked - rejected, "serial number")} decided. Rejected ones are skipped in a list, unless you tick the box for them.`;
  const more = rejected > serials.length ? [`and ${rejected - serials.length} more`] : [];
  return page(visit, "problem", title, { title, detail, errors: [...serials, ...more], back: "/serials" });
}

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  ),
];
