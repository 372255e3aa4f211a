/** Writes the files of the image to their paths below a folder: `scripts/node scripts/image/stage.ts FOLDER`. */
import { stageImage } from "./contents.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("usage: stage.ts FOLDER\n");
  process.exitCode = 2;
} else {
  stageImage(folder);
}
