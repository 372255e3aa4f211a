/**
 * Required by mocha (.mocharc.json). Property tests try the same values in every run, so that none fails by chance on
 * another machine; `SEED=$RANDOM make test` tries others. A failure names its seed and path.
 */
import fc from "fast-check";

fc.configureGlobal({
  seed: Number(process.env["SEED"] ?? 9112),
  // Otherwise no list has more than ten entries, even with a larger `maxLength`.
  defaultSizeToMaxWhenMaxSpecified: true,
});
