import type { Exception } from "../run-contract.ts";

const notReady = { status: 501, headers: { "content-type": "application/json" }, text: /prepared answers/ };

/** Limits of hosts that serve only prepared files. */
export const preparedAnswers: readonly Exception[] = [
  {
    part: "weights",
    exchanges: ["HTML is liked better than JSON", "JSON is refused"],
    reason: "weights are ignored: if JSON is listed, it is sent",
    instead: { status: 200, headers: { "content-type": "application/json" } },
  },
  { part: "orderings", reason: "501: only the two usual orderings are prepared", instead: notReady },
  { part: "filters", reason: "501: only the filters above are prepared", instead: notReady },
  {
    part: "gone",
    exchanges: ["a page for a browser"],
    reason: "browsers get the JSON too",
    instead: { status: 410, headers: { "content-type": "application/json" } },
  },
  {
    part: "latestLine",
    reason: "501: only the newest of each kind is prepared; `arch` gets 400",
    instead: notReady,
  },
  {
    part: "ignored",
    reason: "it does not name them",
    instead: { status: 200, headers: { "x-ignored-parameters": null } },
  },
];
