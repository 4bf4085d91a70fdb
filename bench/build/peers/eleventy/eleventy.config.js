import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt();

// biome-ignore lint/style/noDefaultExport: Eleventy looks for it.
export default function configure(eleventy) {
  eleventy.addFilter("markdown", (text) => markdown.render(text));
  eleventy.addFilter("inline", (text) => markdown.renderInline(text.trim()));
  eleventy.setQuietMode(true);
}

export const config = { dir: { input: "src", output: process.env.OUT }, htmlTemplateEngine: false };
