import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { answer, type Host } from "../terminal/host.ts";
import { bashScript } from "./completion-bash.ts";
import { fishScript } from "./completion-fish.ts";
import { powershellScript } from "./completion-powershell.ts";
import { commandWords } from "./completion-words.ts";
import { zshScript } from "./completion-zsh.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

/** `relcat completion`: a shell script generated from the table of commands. Ids are not completed. */
export async function completion(
  shell: keyof typeof scripts,
  program: CommandUnknownOpts,
  host: Host,
): Promise<number> {
  const script = scripts[shell](commandWords(program));
  if (host.json) answer<"completion">(host, { shell, script }, () => "");
  else host.data.write(script);
  return 0;
}
