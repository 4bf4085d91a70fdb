import { caching } from "../../../service/http/answers.ts";
import { type ServerAnswer, wholeAnswer } from "../../../service/http/request.ts";
import type { Controller } from "../controller.ts";
import type { ControllerOperation } from "../routes.ts";
import { type Ask, type Me, may } from "./ask.ts";
import { type MessageCode, readMessage, signedMessage } from "./messages.ts";
import { pagePolicy } from "./policy.ts";
import { assetPaths, render } from "./templates.ts";

export interface Visit {
  controller: Controller;
  url: URL;
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
  ask: Ask;
  /** True for any session cookie, valid or not. */
  hasSession: boolean;
  /** undefined before signing in. */
  me: Me | undefined;
  now: number;
  /** Headers of every answer. */
  headers: Record<string, string>;
}

export interface SignedIn extends Visit {
  me: Me;
}

const navigation: readonly { path: string; text: string; operation: ControllerOperation }[] = [
  { path: "/devices", text: "Devices", operation: "listDevices" },
  { path: "/serials", text: "Serial numbers", operation: "listAuthDecisions" },
  { path: "/keys", text: "API keys", operation: "listApiKeys" },
  { path: "/users", text: "Users", operation: "listUsers" },
  { path: "/audit", text: "Audit log", operation: "listAudit" },
];

/** The first page that the user may open. */
export const firstPageOf = (me: Me): string | undefined =>
  navigation.find(({ operation }) => may(me, operation))?.path;

const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": pagePolicy,
  "Cache-Control": caching.none,
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** Browser tabs and bookmarks show no more. */
const maxTitleLength = 50;

/** Renders a page. @param model values of its template, in addition to those of the layout */
export function page(
  { controller, url, headers, me }: Pick<Visit, "controller" | "url" | "headers"> & Partial<Visit>,
  name: string,
  title: string,
  model: object = {},
  { status = 200, more = {} }: { status?: number; more?: Record<string, string> } = {},
): ServerAnswer {
  const layout = {
    title: title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title,
    product: productOf(controller),
    ...assetPaths(),
    nav: me ? navigationOf(me, url.pathname) : [],
    who: me?.user.email ?? me?.user.username ?? "",
    said: readMessage(controller.pepper, url.searchParams.get("said")) ?? "",
  };
  return wholeAnswer(status, { ...headers, ...pageHeaders, ...more }, render(name, { layout, ...model }));
}

const productOf = ({ settings }: Pick<Controller, "settings">): string =>
  settings.organisation ?? "Device management";

const navigationOf = (me: Me, path: string) =>
  navigation
    .filter(({ operation }) => may(me, operation))
    .map((entry) => ({
      href: entry.path,
      text: entry.text,
      current: path === entry.path || path.startsWith(`${entry.path}/`),
    }));

/** Redirects after an action (POST/redirect/GET), so that reloading does not repeat it. */
export function redirectTo(
  { controller, headers }: Visit,
  path: string,
  said?: { code: MessageCode; count?: number },
  more: Record<string, string> = {},
): ServerAnswer {
  const [pathname, search] = path.split("?");
  const query = new URLSearchParams(search);
  if (said) query.set("said", signedMessage(controller.pepper, said.code, said.count));
  const location = query.size > 0 ? `${pathname}?${query}` : path;
  return wholeAnswer(303, { ...headers, "Cache-Control": caching.none, Location: location, ...more }, "");
}
