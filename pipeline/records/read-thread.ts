import { answerAsThread } from "../system/second-thread.ts";

// Imported so, what it holds is in a chunk whose name tells it from any other (programIdentity).
const { packingReader } = await import("./read-releases.ts");
answerAsThread(packingReader);
