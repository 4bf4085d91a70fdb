import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { connect, connectAsNobody, type Place } from "./api.ts";
import { nameOf, type User } from "./controller-users.ts";
import { forgetSession, keepSession, keptSessions } from "./login-state.ts";
import { answered } from "./prompts.ts";

/** `relcat login`: starts a user's session, for operations that API keys may not do. */
export async function login(options: Place & { email?: string }, host: Host): Promise<void> {
  const connection = connectAsNobody(options, host);
  const email = options.email ?? (await answered("Email", false, host));
  const password = await answered("Password", true, host);
  const { user } = await connection.ask<{ user: User }>("POST", "/user/login", {
    email_or_username: email,
    password,
  });
  const cookie = connection.headers()?.get("set-cookie") ?? "";
  const seconds = Number(/max-age=(\d+)/i.exec(cookie)?.[1] ?? 0);
  const expires = new Date(host.clock + seconds * 1000).toISOString();
  const { url } = connection;
  const name = nameOf(user);
  keepSession({ url, email: name, cookie: cookie.split(";")[0] ?? "", expires }, host);
  answer<"login">(
    host,
    { url, email: user.email, role: user.role, expires },
    () => `Signed in to ${url} as ${name} (${user.role}) until ${expires}.`,
  );
  sayNext(host, "relcat devices list, or relcat controller keys create --name NAME, for a program");
}

/** `relcat logout`: ends the session here and at the controller. */
export async function logout(options: Place, host: Host): Promise<void> {
  const connection = connect(options, host, "session");
  const { url } = connection;
  if (!keptSessions(host).some((session) => session.url === url)) {
    throw new UsageError(`you are not signed in to ${url}`, "There is no session to end.");
  }
  try {
    await connection.ask("POST", "/user/logout");
  } finally {
    forgetSession(url, host);
  }
  answer<"logout">(host, { url }, () => `Signed out of ${url}.`);
  say(host, "API keys keep working.");
}
