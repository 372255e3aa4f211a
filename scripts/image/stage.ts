/** The files of the image, as they lie in it, into a folder: `scripts/node scripts/image/stage.ts FOLDER`. */
import { stageImage } from "./contents.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("stage.ts FOLDER\n");
  process.exitCode = 2;
} else {
  stageImage(folder);
}
