import type { OutputFile } from "../../documents/published.ts";
import { channelPath } from "../../documents/site-paths.ts";
import { hasPackages, memberOf, offeredIn } from "../../selection/channels.ts";
import { type PageSite, page } from "./page-layout.ts";
import type { PagePieces } from "./page-pieces.ts";
import { repositoriesOf, repositoryViews } from "./repositories.ts";

export const channelPage = (name: string): string => `releases/channels/${name}/`;

/** Rows of a channel's page; its JSON document has all of them. */
const maxReleases = 200;

/** @param pieces newest first */
export const channelPages = (pieces: readonly PagePieces[], site: PageSite): OutputFile[] =>
  site.config.channels.map((name) => {
    const path = `${channelPage(name)}index.html`;
    return page(path, "channel", { title: `Channel ${name}` }, site, (layout) => {
      const live = pieces.filter(hasPackages);
      const [newest] = offeredIn(live, name);
      const releases = live.flatMap(({ version, date, channels }) => {
        const member = memberOf({ channels }, name);
        if (!member) return [];
        const [promoted, halted] = [member.promoted?.slice(0, 10) ?? "", member.halt?.reason ?? ""];
        return [{ version, date, href: `../../${version}/`, promoted, halted }];
      });
      const repositories = repositoriesOf(site.config).filter(({ channel }) => channel === name);
      return {
        layout,
        name,
        isDefault: name === site.config.channels[0],
        json: `../../../${channelPath(name)}`,
        newest: newest
          ? { version: newest.version, date: newest.date, href: `../../${newest.version}/` }
          : null,
        repositories: repositoryViews(repositories, newest ? newest.slices.offers().flat() : []),
        releases: releases.slice(0, maxReleases),
        more: Math.max(releases.length - maxReleases, 0),
        all: "../../",
      };
    });
  });
