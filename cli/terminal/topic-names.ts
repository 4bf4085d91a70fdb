/** Topics of `relcat help` that are not commands. */
export const topicNames = ["exit-codes", "environment", "configuration", "json"] as const;

export type TopicName = (typeof topicNames)[number];

/** @param words the command line after the program's name @returns undefined without a topic */
export function topicIn(words: readonly string[]): TopicName | undefined {
  const [first, name, ...others] = words.filter((word) => !word.startsWith("-"));
  return first === "help" && others.length === 0 ? topicNames.find((topic) => topic === name) : undefined;
}
