package retention

// BeforeDrop calls fn when nothing but dropping is left of a step.
func (k *Keeper) BeforeDrop(fn func()) { k.beforeDrop = fn }
