// The pages of `loadline ui`: which one is shown is said by the path.
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./app.css";
import { render } from "preact";
import { HistoryPage } from "./history-page";
import { JobPage } from "./job-page";
import { NewRun } from "./new-run";
import { Runs } from "./runs";

function App() {
  const [, page = "", number = ""] = location.pathname.split("/");
  switch (page) {
    case "new":
      return <NewRun />;
    case "history":
      return <HistoryPage />;
    case "jobs":
      return <JobPage job={Number(number)} />;
    default:
      return <Runs />;
  }
}

const place = document.getElementById("app");
if (place !== null) render(<App />, place);
