import { answerAsThread } from "./outside/second-thread.ts";
import { packingReader } from "./read-releases.ts";

answerAsThread(packingReader);
