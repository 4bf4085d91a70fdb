import { answer, type Host } from "../terminal/host.ts";
import { bashScript, fishScript, powershellScript, zshScript } from "./scripts.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

/** `relcat completion`: a shell script that asks `relcat __words` for each word. */
export async function completion(shell: keyof typeof scripts, host: Host): Promise<number> {
  const script = scripts[shell];
  if (host.json) answer<"completion">(host, { shell, script }, () => "");
  else host.data.write(script);
  return 0;
}
