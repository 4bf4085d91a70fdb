import { exitStatus, type OpenReleaseOptions, openRelease as open } from "../../pipeline/index.ts";
import { answer, type Host, openingSurroundings, sayNext } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";

/** `relcat new`: opens the next release of a month and moves the waiting notes into it. */
export async function openRelease(
  month: string,
  options: Omit<OpenReleaseOptions, "month">,
  host: Host,
): Promise<number> {
  const { version, date, notes } = await open(
    host.releases,
    { month, ...options },
    await openingSurroundings(host),
  );
  const folder = `${host.releases}/${version}`;
  answer(host, { version, date, folder, notes }, () => {
    const moved =
      notes.length > 0 ? ` with ${count(notes.length, "note")} from ${host.releases}/next/notes` : "";
    return `Opened ${version} of ${date} in ${folder}/${moved}.`;
  });
  sayNext(host, `put build output manifests into ${folder}/manifests/, then relcat check`);
  return exitStatus.done;
}
