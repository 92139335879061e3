"""A gradient-boosted model of a table that ships with scikit-learn, distilled from the command line.

    cd examples
    python wine.py wine.csv
    fidelitree frontier wine:model --data wine.csv --chow-liu --max-queries 8000

178 wines of three growers, 13 measurements each. The table keeps the column that the model was trained to predict, as
tables do; `frontier` leaves it out, because the model does not use it. Inputs are as the table has them: drawn from a
Chow-Liu tree that is fitted to it.
"""

import sys
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier

wines = load_wine(as_frame=True)
growers = wines.target_names[wines.target]
model = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(wines.data, growers)

if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) == 2 else "wine.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    wines.data.assign(grower=growers).to_csv(path, index=False)
    print(f"a model of {model.n_iter_ * len(model.classes_)} boosted trees; the {len(wines.data)} wines are in {path}")
