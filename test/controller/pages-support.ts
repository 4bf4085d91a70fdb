import { type Answered, password, type TestController, type TestUser } from "./support.ts";

export interface Page extends Answered {
  /** Target of a redirect. */
  location: string;
}

/** A visitor of the pages, without JavaScript. */
export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  post(path: string, fields: Fields | string, headers?: Record<string, string>): Promise<Page>;
  /** The page after a form's redirect. */
  postAndFollow(path: string, fields: Fields): Promise<Page>;
}
type Fields = Record<string, string | readonly string[]>;

const asForm = (fields: Fields): string =>
  String(
    new URLSearchParams(
      Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each as string])),
    ),
  );

export function visitor(url: string, signedIn: Record<string, string> = {}): Visitor {
  const own = { cookie: "", ...signedIn, origin: url, accept: "text/html" };
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: { ...own, ...headers },
      ...(body !== undefined && { body }),
    });
    const location = response.headers.get("location") ?? "";
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      json: undefined,
      location,
    };
  };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const post: Visitor["post"] = (path, fields, headers) =>
    send("POST", path, { ...form, ...headers }, typeof fields === "string" ? fields : asForm(fields));
  const get: Visitor["get"] = (path, headers = {}) => send("GET", path, headers);
  return {
    get,
    post,
    postAndFollow: async (path, fields) => {
      const { status, location, text } = await post(path, fields);
      if (status !== 303) throw new Error(`${status} ${text}`);
      return get(location);
    },
  };
}

/** Signs in through the page's own form. */
export async function signIn(controller: TestController, { email }: TestUser): Promise<Visitor> {
  const { headers, status, text } = await visitor(controller.url).post("/signin", { name: email, password });
  if (status !== 303) throw new Error(text);
  return visitor(controller.url, { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" });
}

/** Value of a device's checkbox. */
export const boxOf = (page: Page, id: string): string =>
  new RegExp(`name="device" value="(${id}\\.\\d+)"`).exec(page.text)?.[1] ?? "";

/** Text in its escaped form. */
export const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#x27;")
    .replaceAll("`", "&#x60;")
    .replaceAll("=", "&#x3D;");
