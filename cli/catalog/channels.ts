import {
  type ChannelState,
  channelStates,
  type Ledger,
  openSettings,
  readLedgerNow,
  unknownChannel,
  versionsInNoChannel,
} from "../../pipeline/index.ts";
import { table } from "../terminal/cells.ts";
import { answer, type Host } from "../terminal/host.ts";
import { amounts, count, listed } from "../terminal/words.ts";

export async function listChannels(host: Host): Promise<void> {
  const { ledger, names } = await read(host);
  const channels = channelStates(ledger, names);
  const document = { channels, in_no_channel: versionsInNoChannel(ledger, names) };
  answer<"channel-list">(host, document, () =>
    [
      names.length === 0
        ? "catalog.yaml names no channels: each release is offered."
        : table(channels.map(row)),
      ...(document.in_no_channel.length > 0 ? [`In no channel: ${listed(document.in_no_channel, 5)}`] : []),
    ].join("\n"),
  );
}

export async function showChannel(name: string, host: Host): Promise<void> {
  const { ledger, names } = await read(host);
  const state = channelStates(ledger, names).find((each) => each.name === name);
  if (!state) throw unknownChannel(name, names);
  answer<"channel-show">(host, state, () =>
    state.releases.length === 0
      ? `${name} has no releases.`
      : table(
          state.releases.map(({ version, promoted, halted }) => [
            version,
            promoted?.slice(0, 10) ?? "",
            halted ? `halted on ${halted.at.slice(0, 10)}: ${halted.reason}` : "offered",
          ]),
        ),
  );
}

async function read(host: Host): Promise<{ ledger: Ledger; names: readonly string[] }> {
  const { config } = await openSettings(host.releases);
  return { ledger: readLedgerNow(host.releases), names: config.channels };
}

const row = ({ name, default: isDefault, newest, releases }: ChannelState): string[] => {
  const halted = releases.filter((release) => release.halted).length;
  return [
    isDefault ? `${name} (default)` : name,
    newest ?? "nothing",
    [count(releases.length - halted, "release"), ...amounts([[halted, "halted"]])].join(", "),
  ];
};

export const channelLine = (state: ChannelState): string => {
  const [name, newest, releases] = row(state);
  return `channel ${name}: ${newest}, ${releases}`;
};
