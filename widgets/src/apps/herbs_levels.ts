// How the level of a caution is coloured and called.

import { t } from "./state";

export function colour(level: string): string {
  return level === "contraindicated" ? "red" : level === "caution" || level === "precaution" ? "amber" : "grey";
}

export function levelName(level: string): string {
  const names: Record<string, string> = { contraindicated: t("Do not use", "ห้ามใช้"), caution: t("Use with caution", "ควรระวัง"), precaution: t("Precaution", "ข้อควรระวัง"), monitor: t("Monitor", "ติดตามอาการ") };
  return names[level] ?? level;
}
